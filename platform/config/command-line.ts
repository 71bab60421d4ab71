import { parseArgs } from 'node:util';

import type { Report } from './settings/setting.ts';

/** What the command line may set instead of the environment. */
export interface CommandLine {
  /** `--role`, which takes precedence over ROLE. */
  readonly role: string | undefined;
  /** `--supergraph FILE`: serve this supergraph only, with the subgraphs that it names. */
  readonly supergraph: string | null;
  /** `--subgraphs FILE`: compose the supergraph at the start from the subgraphs that this file names (gateway/composition/other-graph). */
  readonly subgraphs: string | null;
  /** `--config FILE`: the gateway's configuration file (gateway/configuration). */
  readonly config: string | null;
}

/** Reads `--role NAME`, `--supergraph FILE`, `--subgraphs FILE` and `--config FILE`; reports anything else under its own name. */
export function readCommandLine(words: readonly string[], report: Report): CommandLine {
  const { tokens } = parseArgs({ args: [...words], strict: false, tokens: true, options: OPTIONS });
  const found: { -readonly [Name in keyof typeof OPTIONS]?: string } = {};
  for (const token of tokens) {
    if (token.kind === 'option' && isKnown(token.name)) {
      if (token.value === undefined || token.value === '') report(`--${token.name}`, 'needs a value');
      else found[token.name] = token.value;
    } else if (token.kind !== 'option-terminator') {
      const name = token.kind === 'option' ? token.rawName : token.value;
      report(
        name,
        'is not known here: only --role NAME, --supergraph FILE, --subgraphs FILE and --config FILE are',
      );
    }
  }
  const { role, supergraph = null, subgraphs = null, config = null } = found;
  return { role, supergraph, subgraphs, config };
}

const OPTIONS = {
  role: { type: 'string' },
  supergraph: { type: 'string' },
  subgraphs: { type: 'string' },
  config: { type: 'string' },
} as const;

function isKnown(name: string): name is keyof typeof OPTIONS {
  return Object.hasOwn(OPTIONS, name);
}
