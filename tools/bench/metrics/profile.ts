import { z } from 'zod';

/** What a CPU profile of V8 says about the share of some code. */

const profileSchema = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string() }),
      children: z.array(z.number()).optional(),
    }),
  ),
  /** Microseconds of the system's monotonic clock. */
  startTime: z.number(),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});

type ProfileNode = z.output<typeof profileSchema>['nodes'][number];

/** Microseconds of work, and of these those of the code that is asked about. */
export interface Shares {
  readonly busy: number;
  readonly asked: number;
}

/**
 * Adds up the part of a profile between two moments (microseconds of the monotonic clock). Of a `library` all that it calls counts; of `wrappers`, which call what they wrap, only their own time.
 */
export function sumShares(
  json: string,
  options: {
    readonly library: RegExp;
    readonly wrappers: RegExp;
    readonly from: number;
    readonly to: number;
  },
): Shares {
  const { library, wrappers, from, to } = options;
  const { nodes, startTime, samples, timeDeltas } = profileSchema.parse(JSON.parse(json));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const own = new Map<number, number>();
  let at = startTime;
  for (const [index, id] of samples.entries()) {
    const micros = timeDeltas[index] ?? 0;
    at += micros;
    if (at >= from && at <= to) own.set(id, (own.get(id) ?? 0) + micros);
  }
  let busy = 0;
  let asked = 0;
  const walk = (node: ProfileNode, isAsked: boolean): void => {
    const { functionName, url } = node.callFrame;
    const isInside = isAsked || library.test(url);
    const micros = own.get(node.id) ?? 0;
    if (functionName !== '(idle)' && functionName !== '(program)') {
      busy += micros;
      if (isInside || wrappers.test(url)) asked += micros;
    }
    for (const id of node.children ?? []) {
      const child = byId.get(id);
      if (child !== undefined) walk(child, isInside);
    }
  };
  const [root] = nodes;
  if (root !== undefined) walk(root, false);
  return { busy, asked };
}
