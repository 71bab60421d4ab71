import { freePorts } from '../../test/kit/processes/free-ports.ts';

/** What a Kiln under chaos is made of. */

/** Apart, several of the whole, or several processes of one port under a supervisor. */
export const shapes = ['split', 'replicas', 'processes'] as const;
/** Those, and parts of which there are more or fewer by what they have to do. */
export type Shape = (typeof shapes)[number] | 'scaling';

/** A process that is killed, stopped and started again. */
interface Part {
  readonly script: string;
  readonly role: 'all' | 'gateway' | 'media' | 'workflow' | 'worker';
  /** Where it answers; null: a worker, which says when it is ready. */
  readonly url: string | null;
  /** Whether it reaches the database over the relay that loses answers. */
  readonly isRelayed: boolean;
  /** Settings of its own. */
  readonly settings: Readonly<Record<string, string>>;
  /** Whether it is started only when there is more to do. */
  readonly isSpare?: boolean;
}

/** All parts, and where callers find them. */
export interface Layout {
  readonly parts: Readonly<Record<string, Part>>;
  readonly gateways: readonly [string, string];
  /** Settings that all have in common. */
  readonly settings: Readonly<Record<string, string>>;
  /** Whether its files are in a bucket: replicas have folders of their own. */
  readonly needsBucket: boolean;
}

const SCRIPTS = {
  all: 'gateway/main.ts',
  gateway: 'gateway/main.ts',
  media: 'subgraphs/media/main.ts',
  workflow: 'subgraphs/workflow/main.ts',
  worker: 'subgraphs/media/main.ts',
} as const;

/** Makes the layout over free ports. `folder` is where replicas keep what is their own. */
export async function createLayout(shape: Shape, folder: string): Promise<Layout> {
  if (shape === 'scaling') return scalingLayout();
  const [one = '', two = '', three = '', four = '', five = ''] = (await freePorts(5)).map(
    (port) => `http://127.0.0.1:${port}`,
  );
  if (shape === 'split') return splitLayout([one, two, three, four, five]);
  if (shape === 'replicas') {
    const own = (number: number) => ({ DATA_DIR: `${folder}/replica-${number}`, CONSOLE_BUILD: 'off' });
    return {
      parts: {
        'replica 1': createPart('all', one, { settings: own(1) }),
        'replica 2': createPart('all', two, { settings: own(2), isRelayed: true }),
        'replica 3': createPart('all', three, { settings: own(3) }),
      },
      gateways: [one, two],
      settings: {},
      needsBucket: true,
    };
  }
  return {
    parts: { Kiln: createPart('all', one, { settings: { PROCESSES: 'auto', CONSOLE_BUILD: 'off' } }) },
    gateways: [one, one],
    settings: {},
    needsBucket: false,
  };
}

function splitLayout([one, two, mediaOne, mediaTwo, workflow]: [
  string,
  string,
  string,
  string,
  string,
]): Layout {
  return {
    parts: {
      'media 1': createPart('media', mediaOne),
      'media 2': createPart('media', mediaTwo, { isRelayed: true }),
      workflow: createPart('workflow', workflow, { isRelayed: true }),
      'worker 1': createPart('worker', null),
      'worker 2': createPart('worker', null, { isRelayed: true }),
      'worker 3': createPart('worker', null),
      'gateway 1': createPart('gateway', one),
      'gateway 2': createPart('gateway', two),
    },
    gateways: [one, two],
    settings: {
      MEDIA_URL: `${mediaOne}/graphql,${mediaTwo}/graphql`,
      WORKFLOW_URL: `${workflow}/graphql`,
    },
    needsBucket: false,
  };
}

/** Most parts of a role that is scaled, and how many are there from the beginning. */
const MOST = 4;
const FIRST = 2;

async function scalingLayout(): Promise<Layout> {
  const ports = await freePorts(3 * MOST + 1);
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const [gateways, media] = [urls.slice(0, MOST), urls.slice(MOST, 2 * MOST)];
  const several = (role: Part['role'], partFor: (index: number) => Part) =>
    Array.from({ length: MOST }, (_, index): [string, Part] => [
      `${role} ${index + 1}`,
      { ...partFor(index), isSpare: index >= FIRST },
    ]);
  const workflow = urls.at(-1) ?? '';
  return {
    parts: Object.fromEntries([
      ...several('media', (index) => createPart('media', media[index] ?? '')),
      ['workflow', createPart('workflow', workflow)],
      // A worker has one start at a time, so that work waits on a machine on which nothing else would be scarce.
      ...several('worker', (index) =>
        createPart('worker', null, {
          settings: { METRICS_PORT: String(ports[2 * MOST + index]), START_SLOTS: '1' },
        }),
      ),
      ...several('gateway', (index) => createPart('gateway', gateways[index] ?? '')),
    ]),
    gateways: [gateways[0] ?? '', gateways[1] ?? ''],
    settings: {
      // Those that do not run are asked nothing, as an address without a process behind it.
      MEDIA_URL: media.map((url) => `${url}/graphql`).join(','),
      WORKFLOW_URL: `${workflow}/graphql`,
      DRAIN_SECONDS: '1',
    },
    needsBucket: false,
  };
}

function createPart(
  role: Part['role'],
  url: string | null,
  { settings = {}, isRelayed = false }: Partial<Pick<Part, 'settings' | 'isRelayed'>> = {},
): Part {
  return { script: SCRIPTS[role], role, url, isRelayed, settings };
}
