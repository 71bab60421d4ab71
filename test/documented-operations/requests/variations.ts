import { acceptedTypes, type Documented, type Field } from '../documents/operation.ts';
import { findCarrier, fitting } from '../documents/values.ts';
import { listMistakes, withField } from './invalid-requests.ts';
import type { LiveServer } from './live-server.ts';
import { companions, requestWith, makeSample } from './samples.ts';
import type { Sent } from './send.ts';
import { validRequest } from './valid-requests.ts';

/** Other requests that are as documented: each allowed value, each way to fill a group, everything at once. */
export interface Variation {
  readonly kind: 'default' | 'allowed' | 'known' | 'group' | 'format' | 'everything';
  readonly title: string;
  readonly request: (world: LiveServer) => Promise<Sent>;
  readonly end: {
    /** It is answered as a sound request is, to the letter. */
    readonly isAsSound?: true;
    /** It is refused for what it holds, not for its form. */
    readonly fails?: true;
    /** The message says so. */
    readonly says?: readonly string[];
  };
}

/** Those of one operation. */
export function listVariations(operation: Documented): readonly Variation[] {
  const fields = [...operation.params, ...(operation.body?.fields ?? [])];
  return [
    ...fields.flatMap((field) => listValues(operation, field)),
    ...fields.flatMap((field) => unknownWords(operation, field)),
    ...listGroups(operation),
    ...listFormats(operation),
    ...listEverything(operation, fields),
  ];
}

/** A sound request with another value of one field. */
function soundWith(operation: Documented, field: Field, value: unknown): Variation['request'] {
  return async (world) => withField(await validRequest(world, operation), field, value);
}

/** Its default said aloud; each allowed word, each end of its bounds. */
function listValues(operation: Documented, field: Field): readonly Variation[] {
  const { name, default: fallback, enum: allowed, known, minimum, maximum } = field;
  const isListed = allowed !== undefined || minimum !== undefined || maximum !== undefined;
  const values = isListed ? fitting(field, findCarrier(operation, field)) : (known ?? []);
  const aloud: Variation = {
    kind: 'default',
    title: `${name} as ${JSON.stringify(fallback)}, its default`,
    request: soundWith(operation, field, fallback),
    end: { isAsSound: true },
  };
  return [
    ...(fallback === undefined ? [] : [aloud]),
    ...values.map((value): Variation => ({
      kind: known === undefined ? 'allowed' : 'known',
      title: `${name} as ${JSON.stringify(value)}`,
      request: soundWith(operation, field, value),
      end: {},
    })),
  ];
}

/** A word beyond the known ones is ignored, with a note; the workflow service looks at what it means. */
function unknownWords(operation: Documented, field: Field): readonly Variation[] {
  if (field.known === undefined || operation.service === 'workflow') return [];
  return [
    {
      kind: 'known',
      title: `${field.name} as "coffee", which nobody knows`,
      request: soundWith(operation, field, 'coffee'),
      end: { says: [`unknown ${field.name} ignored`, ...field.known] },
    },
  ];
}

/** None of a group, each of its fields alone, and all of them: then the first counts. */
function listGroups(operation: Documented): readonly Variation[] {
  const fields = operation.body?.fields ?? [];
  return (operation.body?.oneOf ?? []).flatMap((names): readonly Variation[] => {
    const members = fields.filter(({ name }) => names.includes(name));
    // So that the body is not empty.
    const grouped = new Set(operation.body?.oneOf?.flat());
    const spare = fields.find(({ name, required }) => !required && !grouped.has(name));
    const withOnly = async (world: LiveServer, kept: readonly Field[]): Promise<Sent> => {
      let sent = await validRequest(world, operation);
      for (const field of members) {
        sent = withField(
          sent,
          field,
          kept.includes(field) ? await makeSample(world, operation, field) : undefined,
        );
      }
      const along = Object.entries(companions[kept[0]?.name ?? ''] ?? {});
      for (const [name, value] of along) sent = withField(sent, { name }, value);
      return sent;
    };
    return [
      {
        kind: 'group',
        title: `none of ${names.join(', ')}`,
        async request(world) {
          const sent = await withOnly(world, []);
          return spare === undefined
            ? sent
            : withField(sent, spare, await makeSample(world, operation, spare));
        },
        end: { fails: true, says: ['send one of', ...names] },
      },
      ...members.map((field): Variation => ({
        kind: 'group',
        title: `${field.name} alone of ${names.join(', ')}`,
        request: (world) => withOnly(world, [field]),
        end: {},
      })),
      {
        kind: 'group',
        title: `all of ${names.join(', ')}`,
        request: (world) => withOnly(world, members),
        end: { says: names.slice(1).map((name) => `${name} ignored, ${names[0]} is used`) },
      },
    ];
  });
}

/** A file of another kind than its schema takes, by what it is and not by what it is called. */
function listFormats(operation: Documented): readonly Variation[] {
  const { body } = operation;
  const types = body === undefined ? [] : acceptedTypes(body);
  const field = body?.fields?.find(({ type }) => type === 'file');
  if (field === undefined || types.length === 0) return [];
  const name = types[0]?.startsWith('video') === true ? 'a.mp4' : 'a.png';
  const page = new File(['<!doctype html><p>neither</p>'], name, {
    type: types[0]?.replace('*', 'png') ?? '',
  });
  return [
    {
      kind: 'format',
      title: `a page as its ${field.name}, which takes ${types.join(', ')}`,
      async request(world) {
        const needed = await requestWith(world, operation, ({ required }) => required);
        return withField(needed, field, page);
      },
      end: { fails: true, says: ['this is application/octet-stream'] },
    },
  ];
}

/** Every documented input, of groups the one that the sound request has. */
function listEverything(operation: Documented, fields: readonly Field[]): readonly Variation[] {
  const isPossible = fields.some(({ required }) => !required) && listMistakes(operation).length > 0;
  if (!isPossible) return [];
  return [
    {
      kind: 'everything',
      title: 'everything',
      async request(world) {
        const sound = await validRequest(world, operation);
        const everything = await requestWith(world, operation, ({ name }) => isFree(operation, name));
        return {
          ...sound,
          params: { ...everything.params, ...sound.params },
          body: mergedBody(everything.body, sound.body),
        };
      },
      end: {},
    },
  ];
}

/** Fields that are no other's alternative, and that mean something by themselves. */
function isFree({ body, path }: Documented, name: string): boolean {
  const isAlternative = (body?.oneOf ?? []).some((names) => names.includes(name));
  const isLink = /(?:file|url|urls|_input)$/i.test(name);
  const isRefused = refused.some(([pattern, names]) => pattern.test(path) && names.includes(name));
  return !isAlternative && !isLink && !isRefused && !meaningful.has(name) && !path.startsWith('/auth/');
}

/** Options that the bundled model behind a path lacks, and refuses. */
const refused: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\/cloud\/digital\/video\/submit/, ['resolution']],
  [/\/vidb\//, ['negative_prompt', 'seed']],
  [/\/agg\/imga\/video\//, ['negative_prompt', 'ar', 'seed']],
  [/\/vidc\/|\/union\/video\/|\/extend\/frame\//, ['seed']],
  [/\/union\/img\//, ['resolution']],
  [/\/custom\/image\//, ['negative_prompt', 'resolution']],
  [/\/custom\/video\//, ['negative_prompt']],
];

/** What names a thing that has to be there. */
const meaningful = new Set(['model', 'node', 'voice_id', 'character_id', 'digital_id', 'audio_id', 'id']);

function mergedBody(one: Sent['body'], other: Sent['body']): Sent['body'] {
  if (typeof other === 'string' || typeof one === 'string') return other;
  return one === null ? other : { ...one, ...other };
}
