"""Pictures of examples go where they are told to, or to a folder of their own."""

from __future__ import annotations

from pathlib import Path

import picture

from discreet.errors import MissingExtra
from discreet.figures import label_axes, panels


def draw():
    (ax,) = panels(None)
    ax.plot([0, 1], [0, 1])
    return label_axes(ax, x="x", y="y", title="title")


def test_a_new_folder_is_made_each_time(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    places = []
    for _ in range(2):
        picture.save(draw, "one")
        places.append(Path(capsys.readouterr().out.split("Picture: ")[1].strip()))
    assert len(set(places)) == 2
    assert all(place.exists() and tmp_path in place.parents for place in places)


def test_several_panels_are_one_picture(capsys, tmp_path):
    picture.save(lambda: panels(None, 2), "two", tmp_path / "new" / "folder")
    assert "two.png" in capsys.readouterr().out
    assert (tmp_path / "new" / "folder" / "two.png").exists()


def test_without_matplotlib_it_says_what_to_install(capsys, tmp_path):
    def fail():
        raise MissingExtra("matplotlib", "plot")

    picture.save(fail, "none", tmp_path)
    assert "discreet[plot]" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
