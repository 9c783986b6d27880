#!/usr/bin/env python3
"""Fails if a file under src/ includes a layer that its own layer may not know (tools/layers.toml)."""
import pathlib
import re
import sys
import tomllib

INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z0-9_]+)/', re.MULTILINE)


def violations(root: pathlib.Path, allowed: dict[str, list[str]]) -> list[str]:
    found = []
    for file in sorted(root.rglob("*")):
        if file.suffix not in {".h", ".cc"}:
            continue
        layer = file.relative_to(root).parts[0]
        for target in INCLUDE.findall(file.read_text(encoding="utf-8")):
            if target != layer and target in allowed and target not in allowed[layer]:
                found.append(f"{file}: {layer} may not include {target}")
    return found


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "src")
    config = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "tools/layers.toml")
    allowed = tomllib.loads(config.read_text(encoding="utf-8"))["layers"]
    found = violations(root, allowed)
    print("\n".join(found) or f"layers: {len(allowed)} checked, no violation")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
