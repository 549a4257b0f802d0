from queuebox_operator.cli import main

main()
