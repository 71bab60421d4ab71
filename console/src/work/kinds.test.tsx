import { expect, it } from 'vitest';

import { ACCEPTED, detectType, isDisguised } from './files.ts';
import { COMMON_RATIOS, kindName, SPEED_MODES, WORK, type WorkKind } from './kinds.ts';
import { writePrograms } from './program.ts';
import { type Choice, listMembers, listMissing, makeInput, type Model, optionFields } from './work.ts';

const kinds = Object.keys(WORK) as readonly WorkKind[];
/** A model that takes whatever a form has. */
const choice = (kind: WorkKind, more: Partial<Model> = {}): Choice => ({
  key: 'k',
  kind,
  model: {
    generator: 'painter',
    model: 'large',
    kinds: [kind],
    inputs: [...WORK[kind].members],
    needs: [],
    optionsSchema: { properties: { steps: { type: 'integer' } } },
    sizes: null,
    aspectRatios: null,
    durations: null,
    formats: null,
    maxCount: null,
    maxImages: null,
    ...more,
  } as unknown as Model,
});
const file = { id: 'f1', url: '/f1', contentType: 'image/png', bytes: 1 };
/** Every member filled: files as such, the rest by its name. */
const filled = (kind: WorkKind) => ({
  ...Object.fromEntries(WORK[kind].members.map((name) => [name, name in ACCEPTED ? file : name])),
  'comfy.size': 3,
  options: { steps: 4 },
});

it('each kind of work has its form, what it needs, and what is sent of it', async () => {
  const table = kinds.map((kind) => ({
    kind,
    name: kindName(kind),
    form: listMembers(choice(kind)).join(' '),
    needed: listMissing(choice(kind), {}).join(' '),
    options: optionFields(choice(kind)).more.length,
    input: makeInput(choice(kind), filled(kind)),
  }));
  await expect(`${JSON.stringify(table, null, 1)}\n`).toMatchFileSnapshot('outlines/kinds.txt');
  expect([ACCEPTED, COMMON_RATIOS, SPEED_MODES]).toMatchInlineSnapshot(`
    [
      {
        "audio": "audio/*",
        "firstFrame": "image/*",
        "image": "image/*",
        "images": "image/*",
        "lastFrame": "image/*",
        "mask": "image/*",
        "media": "image/*,audio/*,video/*",
        "sample": "audio/*",
        "source": "video/*",
        "video": "video/*",
      },
      [
        "1:1",
        "3:2",
        "4:3",
        "16:9",
        "21:9",
        "2:3",
        "3:4",
        "4:5",
        "9:16",
      ],
      [
        "fast",
        "turbo",
        "relax",
      ],
    ]
  `);
});

it('a form is written as programs, with a key where one is needed', async () => {
  const values = { prompt: `a "fox"'s """den"""`, aspectRatio: '1:1' };
  const codes = (kind: WorkKind, needsKey: boolean) =>
    Object.entries(writePrograms(choice(kind), { ...filled(kind), ...values }, needsKey))
      .map(([name, code]) => `## ${name}\n${code}\n`)
      .join('\n');
  const all = [
    codes('IMAGE', true),
    codes('IMAGE', false),
    codes('DESCRIPTION', true),
    codes('PERSON_DETECTION', true),
  ];
  await expect(all.join('\n')).toMatchFileSnapshot('outlines/programs.txt');
});

it('every type that browsers send is told by its first bytes, and what is named so is disguised without them', () => {
  const heads = [
    '\x89PNG',
    '\xff\xd8\xff',
    'GIF8',
    '....?...WEBP',
    'BM',
    '....ftypavif',
    '....ftypheic',
    'II*\0',
    'MM\0*',
    '....ftypM4A ',
    '....ftypqt  ',
    '....ftypmp42',
    '\x1aE\xdf\xa3',
    'RIFF....WAVE',
    'RIFF....AVI ',
    'OggS',
    'fLaC',
    'ID3',
    '%PDF',
    'PK\x03\x04',
  ];
  const told = heads.map((head) => detectType(Uint8Array.from(head, (letter) => letter.codePointAt(0) ?? 0)));
  expect(told).toMatchInlineSnapshot(`
    [
      "image/png",
      "image/jpeg",
      "image/gif",
      "image/webp",
      "image/bmp",
      "image/avif",
      "image/heic",
      "image/tiff",
      "image/tiff",
      "audio/mp4",
      "video/quicktime",
      "video/mp4",
      "video/webm",
      "audio/wav",
      "video/x-msvideo",
      "audio/ogg",
      "audio/flac",
      "audio/mpeg",
      "application/pdf",
      "application/zip",
    ]
  `);
  const shifted = heads.map((head) =>
    detectType(Uint8Array.from(`x${head}`, (letter) => letter.codePointAt(0) ?? 0)),
  );
  expect(shifted.every((type) => type === null)).toBe(true);
  expect(told.map((type) => isDisguised(type ?? '', null))).toEqual(
    told.map((type) => type !== 'audio/mpeg'),
  );
  expect([
    isDisguised('audio', 'video/mp4'),
    isDisguised('image', 'image/png'),
    isDisguised('', null),
  ]).toEqual([true, false, false]);
});
