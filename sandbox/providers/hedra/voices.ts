import { createHash } from 'node:crypto';

import type { Studio } from '../../studio/types/studio.ts';

/** The voices, with ids in this wire's format. */
export function listVoices(
  studio: Studio,
): readonly { readonly wireId: string; readonly id: string; readonly name: string }[] {
  return studio.voices().map(({ id, name }) => ({ wireId: toWireId(id), id, name }));
}

/** The same voice always has the same id. */
function toWireId(id: string): string {
  const hash = createHash('sha256').update(`hedra-voice:${id}`).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

/** Its id at v3. */
export function voiceName({ wireId }: { readonly wireId: string }): string {
  return `voice_${wireId}`;
}
