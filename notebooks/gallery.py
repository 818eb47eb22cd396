"""Several pictures in a row, each above its caption, as a notebook shows them."""

import html
from collections.abc import Mapping

CELL = '<figure style="margin:4px;text-align:center">{picture}<figcaption>{caption}</figcaption></figure>'
ROW = '<div style="display:flex;flex-wrap:wrap;align-items:flex-end">{cells}</div>'


class Gallery(str):
    """HTML source that a notebook shows."""

    def _repr_html_(self) -> str:
        return str(self)


def gallery(pictures: Mapping[str, str]) -> Gallery:
    """{caption: SVG source} side by side, in order."""
    cells = [CELL.format(picture=svg, caption=html.escape(caption)) for caption, svg in pictures.items()]
    return Gallery(ROW.format(cells="".join(cells)))
