import { integer, text } from './formats.ts';
import { optional, setting } from './setting.ts';

/** Settings of cells: whole Kilns that know of each other (gateway/cells). */
export const cellSettings = {
  CELL: setting(
    integer(0, 255),
    'number of this cell, a whole Kiln beside others (docs/scale.md); its new ids carry it. 0 is the first one, to which all ids without a number belong',
    '0',
  ),
  CELLS_FILE: optional(
    text,
    'JSON file with the addresses of all cells, and which of them signs callers in: {"home": 0, "cells": {"0": "https://a.example", "1": "https://b.example"}}; requests that name an id of another cell are passed on to it',
    'there is one cell',
  ),
};
