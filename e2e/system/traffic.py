"""Rows that are written all the time, by the database itself, until a test has seen enough."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from e2e.system.beside import Delivery, psql_command
from e2e.system.shop import Shop, out_of_order
from services.waiting import until_sync

KEYS = 20
PAUSE = 0.02
TOPIC = "order.traffic"
WRITE = f"""
SET client_min_messages = warning;
DROP TABLE IF EXISTS traffic_ends;
DO $$
DECLARE n bigint := 0;
BEGIN
    LOOP
        n := n + 1;
        INSERT INTO outbox (topic, key, payload)
        VALUES ('{TOPIC}', 'key-' || n % {KEYS}, json_build_object('n', n));
        COMMIT;
        EXIT WHEN to_regclass('traffic_ends') IS NOT NULL;
        PERFORM pg_sleep({PAUSE});
    END LOOP;
END $$;
"""
WRITTEN = f"SELECT count(*) FROM outbox WHERE topic = '{TOPIC}'"
END = "CREATE TABLE IF NOT EXISTS traffic_ends ()"


@dataclass(frozen=True, slots=True)
class Traffic:
    """What flows while the context lasts."""

    shop: Shop

    def arrived(self) -> int:
        """How many of the rows came at least once."""
        return self.shop.beside.count(self.shop.name, TOPIC)[0]

    def last(self) -> Delivery:
        """What came last."""
        last = self.shop.beside.count(self.shop.name, TOPIC)[1]
        assert last is not None
        return last

    def goes_on(self, rows: int = 50, seconds: float = 20) -> None:
        """Return when so many more rows arrived than until now."""
        enough = self.arrived() + rows
        until_sync(lambda: self.arrived() >= enough, seconds, f"{rows} more deliveries", every=0.2)

    def check(self, seconds: float = 30) -> None:
        """After the end: nothing is lost, nothing is dead, and each key kept its order."""
        written = int(self.shop.psql(WRITTEN))
        until_sync(lambda: self.arrived() == written, seconds, f"the arrival of all {written} rows", every=0.3)
        assert self.shop.dead() == 0
        assert out_of_order(self.shop.received(TOPIC)) == []


@contextmanager
def traffic(shop: Shop) -> Iterator[Traffic]:
    """Rows are written as long as the context lasts; at its end all that were written must arrive, in order."""
    command = ["kubectl", f"--kubeconfig={shop.cluster.kubeconfig}", *psql_command(shop.name)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True, env=dict(os.environ)) as writer:
        assert writer.stdin
        writer.stdin.write(WRITE)
        writer.stdin.close()
        flowing = Traffic(shop)
        try:
            flowing.goes_on(10)
            yield flowing
        finally:
            shop.psql(END)
            status = writer.wait(20)
    assert status == 0, "the rows could not be written"
    flowing.check()
