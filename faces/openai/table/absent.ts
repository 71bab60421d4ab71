/** What OpenAI's API has and the face has not, and what to do instead. Pure. */

const ABSENT: readonly (readonly [method: string, path: RegExp, remedy: string])[] = [
  ['POST', /^\/images\/variations$/, 'send the image and a prompt to POST /images/edits'],
  ['POST', /^\/audio\/translations$/, 'use POST /audio/transcriptions, and a chat for the translation'],
  [
    '*',
    /^\/chat\/completions(?:\/.*)?$/,
    'chats are not kept for their callers: keep the answer of POST /chat/completions',
  ],
  ['DELETE', /^\/models\/.*$/, 'models are those of the server: its operator takes them out'],
  [
    '*',
    /^\/videos\/characters(?:\/.*)?$/,
    'send images of the character as options.references of POST /videos',
  ],
  [
    'POST',
    /^\/videos\/(?:edits|extensions)$/,
    'use POST /videos/{id}/remix, or POST /videos with input_reference',
  ],
  ['POST', /^\/responses(?:\/.*)?$/, 'use POST /chat/completions'],
  ['POST', /^\/completions$/, 'use POST /chat/completions'],
  ['POST', /^\/(?:embeddings|moderations)$/, 'ask the provider itself: Kiln has no such models'],
  ['*', /^\/uploads(?:\/.*)?$/, 'send the whole file to POST /files'],
];

/** What to do where this operation is not there; null when it is none of OpenAI's that anybody may look for. */
export function remedyFor(method: string, path: string): string | null {
  const found = ABSENT.find(([own, pattern]) => (own === '*' || own === method) && pattern.test(path));
  return found === undefined ? null : found[2];
}
