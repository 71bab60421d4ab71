import { parseArgs } from 'node:util';

/** What is replaced in which order; `isBack` goes from this version to the one before. */
interface Order {
  readonly parts: readonly string[];
  readonly isBack: boolean;
}

const WORKERS = ['worker 1', 'worker 2', 'worker 3'];
const GATEWAYS = ['gateway 1', 'gateway 2'];
const MEDIA = ['media 1', 'media 2'];
const ORDERS: Readonly<Record<string, Order>> = {
  'workers first': { parts: [...WORKERS, ...MEDIA, 'workflow', ...GATEWAYS], isBack: false },
  'gateways first': { parts: [...GATEWAYS, 'workflow', ...MEDIA, ...WORKERS], isBack: false },
  'workflow first': { parts: ['workflow', ...GATEWAYS, ...WORKERS, ...MEDIA], isBack: false },
  'back, gateways first': { parts: [...GATEWAYS, 'workflow', ...MEDIA, ...WORKERS], isBack: true },
};

/** What the command line asks for. Throws where it asks for nothing that can be run: that must not count as passed. */
export function readOptions(words: readonly string[]) {
  const { values } = parseArgs({
    args: [...words],
    options: {
      from: { type: 'string' },
      minutes: { type: 'string', default: '1' },
      order: { type: 'string' },
      pause: { type: 'string', default: '300' },
      logs: { type: 'string' },
    },
  });
  const { order, from, logs } = values;
  const orders = Object.entries(ORDERS).filter(([name]) => order === undefined || name === order);
  if (orders.length === 0) throw new Error(`--order may be: ${Object.keys(ORDERS).join('; ')}`);
  return {
    from,
    logs,
    orders,
    minutes: readNumber('--minutes', values.minutes),
    pauseMs: readNumber('--pause', values.pause),
  };
}

function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0)
    throw new Error(`${name} must be a number above 0`);
  return value;
}
