import type { ExecutionResult } from 'graphql';

/** How two lists of results differ, in words; null when they say the same. The order of errors is nobody's promise. */
export function findDifference(
  ours: readonly ExecutionResult[],
  apollo: readonly ExecutionResult[],
): string | null {
  if (ours.length !== apollo.length) return `${ours.length} results instead of ${apollo.length}`;
  for (const [index, one] of ours.entries()) {
    const mine = comparable(one);
    const theirs = comparable(apollo[index] ?? {});
    for (const part of ['data', 'errors', 'extensions'] as const) {
      if (mine[part] !== theirs[part]) return `${part}\n  ours   ${mine[part]}\n  Apollo ${theirs[part]}`;
    }
  }
  return null;
}

function comparable(result: ExecutionResult): Record<'data' | 'errors' | 'extensions', string> {
  return {
    data: 'data' in result ? JSON.stringify(result.data) : 'absent',
    errors: sortedText(result.errors),
    extensions: sortedText(result.extensions?.['valueCompletion']),
  };
}

function sortedText(errors: unknown): string {
  if (!Array.isArray(errors)) return String(errors);
  const texts = errors.map((error) => JSON.stringify(error));
  // How many entities one fetch asks for is not the same: equal representations may be asked for once.
  const counted = texts.map((text) => text.replace(/to contain \d+ elements/, 'to contain n elements'));
  // So a subgraph may say what concerns none of them in particular more often to one of the two.
  const placed = counted.filter((text) => text.includes('"path":'));
  const unplaced = new Set(counted.filter((text) => !text.includes('"path":')));
  return [...placed, ...unplaced].toSorted().join(' ');
}
