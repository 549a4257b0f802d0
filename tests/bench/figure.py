"""One measured figure, as `bench.json` holds it."""

from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class Figure:
    """`roof`: what it is measured against, in the same unit: the bare library in the same run, or the wanted figure.

    `ratio`: value through roof. `conditions`: what a reader must know to measure it again.
    """

    figure: str
    value: float
    unit: str
    roof: float
    ratio: float
    conditions: dict[str, object] = field(default_factory=dict)

    def plain(self) -> dict[str, object]:
        """For JSON, rounded to what the measurement is worth."""
        return asdict(self) | {
            "value": round(self.value, 1),
            "roof": round(self.roof, 1),
            "ratio": round(self.ratio, 3),
        }


def against(name: str, value: float, unit: str, roof: float, **conditions: object) -> Figure:
    """A figure with its ratio to the roof."""
    return Figure(name, value, unit, roof, value / roof, conditions)
