import { describe, expect, it } from 'vitest';

import { accepts, detectType, isDisguised, toldType } from './files.ts';
import { takenBy } from './taken.ts';
import {
  type Choice,
  findTab,
  listChoices,
  listMembers,
  listMissing,
  makeInput,
  makeParameters,
  type Model,
  tasksFor,
  toText,
} from './work.ts';

const model = (more: Partial<Model> = {}): Model =>
  ({
    generator: 'openai',
    model: 'gpt-image',
    kinds: ['IMAGE'],
    inputs: ['prompt', 'images', 'count', 'aspectRatio'],
    needs: [],
    optionsSchema: {
      properties: { seed: { type: 'integer' }, must: { type: 'string' } },
      required: ['must'],
    },
    sizes: null,
    aspectRatios: ['1:1', '16:9'],
    durations: null,
    formats: null,
    maxCount: 4,
    maxImages: 2,
    ...more,
  }) as Model;
const choice = (kind: Choice['kind'] = 'IMAGE', more: Partial<Model> = {}): Choice => ({
  key: 'k',
  kind,
  model: model(more),
});
const file = (id: string) => ({ id, url: `https://files/${id}`, contentType: 'image/png', bytes: 1 });

describe('the work of a form', () => {
  it('is what the models of a tab can do, in the order of its kinds', () => {
    const models = [model({ kinds: ['CHARACTER', 'IMAGE'] as Model['kinds'] }), model({ model: 'other' })];
    expect(listChoices('image', models).map(({ key }) => key)).toEqual([
      'IMAGE openai gpt-image',
      'IMAGE openai other',
      'CHARACTER openai gpt-image',
    ]);
    expect([listChoices('chat', models), findTab('AVATAR'), findTab('OTHER')]).toEqual([
      [],
      'avatar',
      'image',
    ]);
  });

  it('has the members that its model takes, and lacks what must be filled', () => {
    expect(listMembers(choice())).toEqual(['prompt', 'images', 'aspectRatio', 'count']);
    expect(listMissing(choice('IMAGE', { needs: ['images'] }), {})).toEqual(['prompt', 'images', 'must']);
    const filled = { prompt: 'a', images: [], options: { must: '' } };
    expect(listMissing(choice('IMAGE', { needs: ['images'] }), filled)).toEqual(['images', 'must']);
    expect(listMissing(choice(), { prompt: 0, options: { must: 'x' } })).toEqual([]);
    expect(listMissing(choice('DESCRIPTION'), { image: file('1') })).toEqual([]);
    const graph = (inputs: string[]) =>
      listMissing(choice('COMFY_WORKFLOW', { inputs, optionsSchema: null }), {});
    expect([graph(['workflowName']), graph([])]).toEqual([['workflowName'], []]);
  });

  it('is sent as far as it is filled and offered, files by their id', () => {
    const values = {
      prompt: 'a',
      images: [file('1'), file('2'), file('3')],
      aspectRatio: '9:16',
      count: 9,
      seed: 1,
    };
    expect(makeInput(choice(), { ...values, options: { seed: 7, other: 1 } })).toEqual({
      generator: 'openai',
      model: 'gpt-image',
      prompt: 'a',
      images: [{ fileId: '1' }, { fileId: '2' }],
      count: 4,
      options: { seed: 7 },
    });
    expect(
      makeInput(choice('DESCRIPTION', { inputs: ['image'] }), { image: file('1'), options: { seed: 1 } }),
    ).toEqual({
      generator: 'openai',
      image: { fileId: '1' },
    });
    expect(makeInput(choice('CHARACTER', { inputs: ['name', 'images'] }), { name: 'n', images: [] })).toEqual(
      {
        name: 'n',
      },
    );
  });

  it('runs a graph by its name with its own inputs, or a saved one as a model', () => {
    const values = {
      workflowName: 'flux',
      'comfy.text': 'a',
      'comfy.image': file('1'),
      'comfy.empty': '',
      text: 'b',
    };
    const named = choice('COMFY_WORKFLOW', { inputs: ['workflowName'], optionsSchema: null });
    expect(makeInput(named, values)).toEqual({
      workflowName: 'flux',
      inputs: { text: 'a', image: { fileId: '1' } },
    });
    expect(
      makeInput(choice('COMFY_WORKFLOW', { inputs: [], model: 'mine' }), { options: { must: 'x' } }),
    ).toEqual({
      model: 'mine',
      options: { must: 'x' },
    });
  });
});

describe('what a form holds', () => {
  it('is one task where its model counts, else as many as results', () => {
    expect([tasksFor(choice(), 3), tasksFor(choice('IMAGE', { inputs: [] }), 3)]).toEqual([1, 3]);
    expect(['a', 0, null, {}, undefined].map(toText)).toEqual(['a', '0', '', '', '']);
    expect(makeParameters({ a: 'x', b: '', c: file('1'), d: [], e: [1], f: { x: 1 }, g: false })).toEqual({
      a: 'x',
      c: 'https://files/1',
      e: [1],
      f: { x: 1 },
      g: false,
    });
  });

  it('keeps of another model what this one takes', () => {
    const limits = model({ sizes: ['1K'], durations: [5] as never, maxCount: null, maxImages: null });
    const values = {
      resolution: '4K',
      aspectRatio: '16:9',
      duration: 5,
      format: 'mp3',
      count: 9,
      images: [1, 2, 3],
    };
    expect(takenBy(limits, values)).toEqual({ ...values, resolution: null });
    expect(takenBy(model(), { count: '9', images: 'x', prompt: 'a' })).toEqual({
      count: 4,
      images: 'x',
      prompt: 'a',
    });
  });
});

describe('a file', () => {
  const bytes = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

  it.each([
    ['\x89PNG\r\n', 'image/png'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['RIFF....WEBP', 'image/webp'],
    ['RIFF....WAVE', 'audio/wav'],
    ['....ftypM4A ', 'audio/mp4'],
    ['....ftypisom', 'video/mp4'],
    ['....ftypqt  ', 'video/quicktime'],
    ['ID3\x03', 'audio/mpeg'],
    ['%PDF-1.7', 'application/pdf'],
    ['hello', null],
    ['', null],
    ['x\x89PNG', null],
  ])('that begins with %j is %s', async (head, type) => {
    expect(detectType(bytes(head))).toBe(type);
    expect(await toldType(new File([bytes(head)], 'a.bin'))).toBe(type);
  });

  it('is disguised when its bytes tell another kind than its name', () => {
    expect([
      isDisguised('image/png', 'image/jpeg'),
      isDisguised('image/png', 'video/mp4'),
      isDisguised('audio/mp4', 'video/mp4'),
      isDisguised('', 'video/mp4'),
      isDisguised('image/png', null),
      isDisguised('audio/mpeg', null),
      isDisguised('text/plain', null),
    ]).toEqual([false, true, false, false, true, false, false]);
  });

  it('is taken where its type is', () => {
    expect([
      accepts('image/*', 'image/png'),
      accepts('image/*', 'imagex/png'),
      accepts('image/png,audio/*', 'audio/wav'),
      accepts('image/png', 'image/png2'),
    ]).toEqual([true, false, true, false]);
  });
});
