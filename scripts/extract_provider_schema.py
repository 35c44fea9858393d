"""Writes down what the Google provider of Terraform takes, for the resources that deploy/terraform uses.

    python scripts/extract_provider_schema.py WHEEL > tests/deploy/google_provider.json

WHEEL is the package ``cdktf-cdktf-provider-google`` 16.12.1, generated from the schema of the provider's 6.50.0. It is
read as text, never imported or installed: ``pip download --no-deps`` brings it. Run again when a new type of resource
is used. What it cannot tell, it leaves out: allowed values, and how many blocks there may be at most.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Any, Final

TERRAFORM: Final = Path(__file__).resolve().parents[1] / "deploy/terraform"
_PACKAGE: Final = "cdktf_cdktf_provider_google"
_USED: Final = re.compile(r'^(resource|data) +"google_(\w+)"', re.MULTILINE)
_VERSION: Final = re.compile(r"hashicorp/google/([0-9.]+)/docs")
# Python has other names for some attributes; the link to the documentation ends in Terraform's own.
_PARAMETER: Final = re.compile(
    r":param (\w+): (?:(?!:param ).)*?/docs/(?:resources|data-sources)/\w+#(\w+) ", re.DOTALL
)
# What every resource of the generator has beside the provider's own.
_META: Final = {"connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioners"}
_GENERATORS_OWN: Final = {"internal_value", "tf_resource_type"}
_TYPES: Final = {
    "builtins.str": "string",
    "jsii.Number": "number",
    "builtins.bool": "bool",
    "typing.Sequence[builtins.str]": "list(string)",
    "typing.Mapping[builtins.str, builtins.str]": "map(string)",
    "typing.Sequence[jsii.Number]": "list(number)",
}


def main(wheel: Path) -> None:
    """Print the schema of all types in use, as JSON."""
    used = {found for path in sorted(TERRAFORM.glob("*.tf")) for found in _USED.findall(path.read_text())}
    schema: dict[str, Any] = {"provider": "", "resource": {}, "data": {}}
    with zipfile.ZipFile(wheel) as package:
        for kind, name in sorted(used):
            module = name if kind == "resource" else f"data_google_{name}"
            source = package.read(f"{_PACKAGE}/{module}/__init__.py").decode()
            schema["provider"] = _VERSION.findall(source)[0]
            schema[kind][f"google_{name}"] = resource_schema(ast.parse(source))
    sys.stdout.write(_as_text(schema))


def _as_text(schema: dict[str, Any]) -> str:
    """JSON with a line for each type."""
    lines = [
        f' "{kind}": {{\n'
        + ",\n".join(f'  "{name}": {json.dumps(schema[kind][name], sort_keys=True)}' for name in sorted(schema[kind]))
        + "\n }"
        for kind in ("data", "resource")
    ]
    return "{\n" + ",\n".join([f' "provider": "{schema["provider"]}"', *lines]) + "\n}\n"


def resource_schema(module: ast.Module) -> dict[str, Any]:
    """The arguments, the blocks and the exported attributes of the one resource that ``module`` is about."""
    classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
    resource = next(
        name for name, node in classes.items() if _base(node) in {"TerraformResource", "TerraformDataSource"}
    )
    return _block(classes[resource + "Config"], classes, classes[resource])


def _base(node: ast.ClassDef) -> str:
    return node.bases[0].attr if node.bases and isinstance(node.bases[0], ast.Attribute) else ""


def _block(node: ast.ClassDef, classes: dict[str, ast.ClassDef], read: ast.ClassDef | None) -> dict[str, Any]:
    """What may stand in one block: names of arguments with their types, which are required, and blocks within.

    ``read`` is the class of what others may read of it: what is in there and no argument is exported.
    """
    start = next(item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__")
    names = dict(_PARAMETER.findall(ast.get_docstring(start, clean=False) or ""))
    found: dict[str, Any] = {"arguments": {}, "blocks": {}, "required": []}
    for argument, default in zip(start.args.kwonlyargs, start.args.kw_defaults, strict=True):
        if argument.arg in _META:
            continue
        name = names.get(argument.arg, argument.arg)
        written = argument.annotation or ast.Constant(None)
        annotation, nested = ast.unparse(written), _nested(written, classes)
        if nested:
            of_one = classes.get(nested.name + "OutputReference")
            found["blocks"][name] = _block(nested, classes, of_one) | {"many": "Sequence" in annotation}
        else:
            found["arguments"][name] = _type(annotation)
        if default is None:
            found["required"].append(name)
    found["exported"] = sorted(_properties(read) - set(found["arguments"]) - set(found["blocks"]))
    return {what: names for what, names in found.items() if names}


def _nested(annotation: ast.expr, classes: dict[str, ast.ClassDef]) -> ast.ClassDef | None:
    """The class of a block; None for an argument. Its name stands in quotes where it comes later in the file."""
    for node in ast.walk(annotation):
        name = node.id if isinstance(node, ast.Name) else node.value if isinstance(node, ast.Constant) else None
        if name in classes:
            return classes[name]
    return None


def _type(annotation: str) -> str:
    """The type as Terraform writes it."""
    bare = annotation.removeprefix("typing.Optional[").removesuffix("]") if "Optional" in annotation else annotation
    bare = re.sub(r"typing\.Union\[(.*), _cdktf_\w+\.IResolvable\]", r"\1", bare)
    return _TYPES.get(bare, "any")


def _properties(node: ast.ClassDef | None) -> set[str]:
    """The attributes that may be read, without what the generator has for itself."""
    return {
        item.name
        for item in (node.body if node else ())
        if isinstance(item, ast.FunctionDef)
        and any(ast.unparse(decorator) == "builtins.property" for decorator in item.decorator_list)
        and not item.name.endswith("_input")
    } - _GENERATORS_OWN


if __name__ == "__main__":
    main(Path(sys.argv[1]))
