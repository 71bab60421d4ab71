import { z } from 'zod';

/** The faults that can be injected, and when each takes effect. A rule is used up after `times` uses. */
export const FAULTS = {
  /** 429 with Retry-After, before anything happens. */
  'rate-limited': 'request',
  /** 500; with `accepted` after the request was carried out. */
  'server-error': 'request',
  /** The machine is down: this connection is reset before anything happens, and so are all open ones. */
  'node-down': 'request',
  /** The start's model has ended, or is not for this key: refused in the wire's own words, where it has any. */
  'retired-model': 'request',
  /** The answer is delayed by `delayMs`. */
  slow: 'request',
  /** Carried out, then the connection is reset without an answer. */
  cut: 'answer',
  /** Carried out; the body is JSON (or an image) cut in half. */
  malformed: 'answer',
  /** Carried out; the answer is an HTML page. */
  'wrong-content-type': 'answer',
  /** Carried out; Content-Length is larger than the body, then the connection ends. */
  'wrong-length': 'answer',
  /** The start is refused for its content, in the wire's own form. */
  moderation: 'wire',
  /** The job stops half-way and never ends. */
  stall: 'wire',
  /** The job fails half-way. */
  'upstream-error': 'wire',
  /** The job fails half-way for its content. */
  'late-moderation': 'wire',
  /** The start is refused: the upstream's queue is full. */
  'queue-full': 'wire',
  /** The job is unknown: 404. */
  lost: 'wire',
  /** As lost, answered 200 with an empty body (novicezk/midjourney-proxy answers unknown ids so). */
  'lost-silently': 'wire',
  /** The result's URL expires; the next status has a new one. */
  'expired-url': 'wire',
} as const satisfies Record<string, 'request' | 'answer' | 'wire'>;

/** The name of a fault. */
export type FaultName = keyof typeof FAULTS;

const faultRule = z.strictObject({
  /** A wire's name, or `*`; `comfyui` covers comfyui-a and comfyui-b. */
  wire: z.string().default('*'),
  /** A route's operation, or `*`. */
  operation: z.string().default('*'),
  fault: z.enum(Object.keys(FAULTS) as [FaultName, ...FaultName[]]),
  /** How many requests it hits. */
  times: z.number().int().min(1).max(1_000_000).default(1),
  /** Requests that pass before the first hit. */
  after: z.number().int().min(0).max(1_000_000).default(0),
  /** Milliseconds of `slow`. */
  delayMs: z.number().int().min(0).max(600_000).default(2_000),
  /** Seconds in Retry-After of `rate-limited`. */
  retryAfter: z.number().int().min(0).max(3_600).default(1),
  /** `server-error` after the request was carried out instead of before. */
  accepted: z.boolean().default(false),
});

/** One injected fault. */
export type Fault = z.output<typeof faultRule>;
/** The body of a request to /_control/faults. */
export type FaultInput = z.input<typeof faultRule>;

/** The planned faults; at most 1,000 rules. */
export interface Faults {
  /** Plans one. Throws ZodError when it is not a fault rule, RangeError when there are too many. */
  add(rule: unknown): Fault;
  /** Takes the fault of a request, if any; this uses up the rule. */
  take(wire: string, operation: string): Fault | null;
  list(): readonly Fault[];
  clear(): void;
}

const MAX_RULES = 1_000;

/** Creates an empty list of faults. */
export function createFaults(): Faults {
  let rules: { fault: Fault; passed: number; used: number }[] = [];
  return {
    add(rule) {
      if (rules.length >= MAX_RULES) throw new RangeError(`at most ${MAX_RULES} faults can wait`);
      const fault = faultRule.parse(rule);
      rules.push({ fault, passed: 0, used: 0 });
      return fault;
    },
    take(wire, operation) {
      for (const rule of rules) {
        if (!coversWire(rule.fault.wire, wire) || !covers(rule.fault.operation, operation)) continue;
        if (rule.passed < rule.fault.after) {
          rule.passed += 1;
          continue;
        }
        rule.used += 1;
        if (rule.used >= rule.fault.times) rules = rules.filter((other) => other !== rule);
        return rule.fault;
      }
      return null;
    },
    list: () => rules.map(({ fault, used }) => ({ ...fault, times: fault.times - used })),
    clear() {
      rules = [];
    },
  };
}

/** Whether a rule covers this wire: `*`, its name, or the pool of machines that it belongs to. */
export function coversWire(pattern: string, wire: string): boolean {
  return covers(pattern, wire) || wire.startsWith(`${pattern}-`);
}

function covers(pattern: string, name: string): boolean {
  return pattern === '*' || pattern === name;
}
