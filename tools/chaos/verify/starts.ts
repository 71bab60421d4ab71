import type { Finding, Verified } from './verified.ts';

/** What the provider itself counted: each reference once, none that no attempt has, no step bought twice. */
export async function verifyStarts(verified: Verified): Promise<Finding> {
  const references = await verified.rows<{ reference: string; state: string }>(
    'select reference, state from media.attempts',
  );
  const starts = await counted<Record<string, number>>(verified, 'starts');
  const known = new Set(references.map(({ reference }) => reference));
  const started = Object.keys(starts);
  const bought = (await counted<readonly Job[]>(verified, 'jobs'))
    .filter(({ state }) => state !== 'failed' && state !== 'cancelled')
    .flatMap(({ reference }) => reference?.split('/').slice(0, 2).join('/') ?? []);
  const twice = bought.filter((step, index) => bought.indexOf(step) !== index);
  return {
    what: 'starts at the provider',
    count: started.length,
    wrong: [
      ...started.filter((reference) => starts[reference] !== 1).map((it) => `${it} twice`),
      ...started.filter((reference) => !known.has(reference)).map((it) => `${it} unasked`),
      ...twice.map((step) => `${step} bought twice`),
      ...references
        .filter(({ state }) => state === 'STARTING' || state === 'RUNNING')
        .map(({ reference }) => `${reference} still open`),
    ],
  };
}

interface Job {
  readonly reference: string | null;
  readonly state: string;
}

async function counted<Value>({ sandboxUrl }: Verified, what: 'starts' | 'jobs'): Promise<Value> {
  return (await (await fetch(`${sandboxUrl}/_control/${what}`)).json()) as Value;
}
