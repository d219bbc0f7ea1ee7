"""python -m sentinel_guard"""

from sentinel_guard.cli import main

if __name__ == "__main__":
    main()
