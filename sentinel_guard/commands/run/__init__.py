"""``sentinel-guard run`` and ``shell-init``: starting an agent or a shell under guard, on the person's terminal."""
