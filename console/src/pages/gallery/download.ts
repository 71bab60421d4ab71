import { downloadZip } from 'client-zip';

import type { Piece } from '../../library/use-pieces.ts';
import { saveAddress, saveAs } from '../../parts/save-as.ts';

/** Downloads one file by its address, several as one zip. Fails with what could not be read. */
export async function downloadPieces(pieces: readonly Piece[]): Promise<void> {
  const [only] = pieces;
  if (only === undefined) return;
  if (pieces.length === 1) return saveAddress(only.media.url, only.media.name);
  const zip = await downloadZip(filesOf(pieces)).blob();
  saveAs(zip, `kiln-${new Date().toISOString().slice(0, 10)}.zip`);
}

/** One after the other, as the zip takes them. Names that repeat get a number. */
async function* filesOf(pieces: readonly Piece[]) {
  const taken = new Map<string, number>();
  for (const { media } of pieces) {
    const answer = await fetch(media.url);
    if (!answer.ok) throw new Error(`${media.name}: ${answer.status}`);
    const count = taken.get(media.name) ?? 0;
    taken.set(media.name, count + 1);
    const name = count === 0 ? media.name : media.name.replace(/(\.[^.]*)?$/, ` (${count})$1`);
    yield { name, lastModified: new Date(media.createdAt), input: answer };
  }
}
