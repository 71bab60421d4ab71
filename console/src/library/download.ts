import { downloadZip } from 'client-zip';

import type { MediaPartsFragment } from '../api/documents/operations.ts';
import { saveAddress, saveAs } from '../parts/save-as.ts';

/** Downloads one file by its address, several as one zip. Fails with what could not be read. */
export async function downloadFiles(files: readonly MediaPartsFragment[]): Promise<void> {
  const [only] = files;
  if (only === undefined) return;
  if (files.length === 1) return saveAddress(only.url, only.name);
  const zip = await downloadZip(listEntries(files)).blob();
  saveAs(zip, `kiln-${new Date().toISOString().slice(0, 10)}.zip`);
}

/** One after the other, as the zip takes them. Names that repeat get a number. */
async function* listEntries(files: readonly MediaPartsFragment[]) {
  const taken = new Set<string>();
  for (const media of files) {
    const answer = await fetch(media.url);
    if (!answer.ok) throw new Error(`${media.name}: ${answer.status}`);
    let name = media.name;
    for (let count = 1; taken.has(name); count += 1)
      name = media.name.replace(/(\.[^.]*)?$/, (ending) => ` (${count})${ending}`);
    taken.add(name);
    yield { name, lastModified: new Date(media.createdAt), input: answer };
  }
}
