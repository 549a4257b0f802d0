from queuebox_agent.cli import main

main()
