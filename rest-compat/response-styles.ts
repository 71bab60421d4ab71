import { faceOf } from './replies/response-style.ts';
import type { Face } from './replies/response-style.ts';
import { sections } from './tables.ts';

/** Which service answers for a path that no route has. */

/** Folders of the workflow service; everything else is the media service's. */
const faces: ReadonlyMap<string, Face> = new Map(
  sections
    .filter(({ service }) => service === 'workflow')
    .flatMap((section) => section.routes.map(({ path }) => [folderOf(path), faceOf(section)] as const)),
);

const mediaFace = faceOf({ service: 'media' });

/** The face that paths like this one have; `path` begins behind the prefix of PUBLIC_URL. */
export function faceAt(path: string): Face {
  return faces.get(folderOf(path)) ?? mediaFace;
}

function folderOf(path: string): string {
  return path.split('/', 2)[1] ?? '';
}
