import { downloadZip } from 'client-zip';

import type { Piece } from '../../library/use-pieces.ts';

/** Downloads one file by its address, several as one zip. Fails with what could not be read. */
export async function downloadPieces(pieces: readonly Piece[]): Promise<void> {
  const [only] = pieces;
  if (only === undefined) return;
  if (pieces.length === 1) return save(only.media.url, only.media.name);
  const zip = await downloadZip(filesOf(pieces)).blob();
  const address = URL.createObjectURL(zip);
  save(address, `kiln-${new Date().toISOString().slice(0, 10)}.zip`);
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
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

function save(address: string, name: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}
