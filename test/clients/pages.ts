import { readFileSync } from 'node:fs';
import path from 'node:path';

/** A piece of code of a page that readers run. */
export interface Snippet {
  /** The heading it stands below. */
  readonly heading: string;
  readonly language: string;
  readonly code: string;
  /** Unique on its page: the heading, and which one below it. */
  readonly name: string;
}

/** Every piece of code of a page, named from docs/clients/, in order. */
export function readSnippets(page: string): readonly Snippet[] {
  const text = readFileSync(path.join(import.meta.dirname, '../../docs/clients', page), 'utf8');
  const counts = new Map<string, number>();
  return text.split(/^## /m).flatMap((section) => {
    const heading = section.split('\n', 1)[0] ?? '';
    return [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', code = '']) => {
      const count = (counts.get(heading) ?? 0) + 1;
      counts.set(heading, count);
      return { heading, language, code, name: `${heading} ${count}` };
    });
  });
}
