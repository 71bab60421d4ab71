import { fireEvent, render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, it } from 'vitest';

import { outline } from '../../../../testing/outline.ts';
import { t } from '../../../../text/text.ts';
import { makeOptionFields } from '../../../../work/options/fields.ts';
import { OptionsFields } from './options-fields.tsx';

/** The form of a model's options: what is typed becomes what is sent, and what is emptied is left to the model. */

const properties = {
  styling: { type: 'string', enum: ['plain', 'rich'], default: 'plain', description: 'How it looks' },
  loud: { type: 'boolean', default: true },
  strength: { type: 'integer', minimum: 1, maximum: 9 },
  cfgScale: { type: 'number', minimum: 0, default: 7 },
  author: { type: 'string', maxLength: 40, title: 'Who draws' },
  story: { type: 'string', maxLength: 4_000 },
  words: { type: 'array', items: { type: 'string' } },
  rules: { type: 'array', items: { type: 'object' } },
  voice: { type: 'object', properties: { pitch: { type: 'integer', minimum: -5 } } },
} as const;

function open(
  options: unknown,
  problems: Readonly<Record<string, string>> = {},
  needed: readonly string[] = [],
) {
  const schema = { type: 'object', properties, required: needed };
  const fields = makeOptionFields({ kind: 'IMAGE', schema, members: [] });
  const sent = { options };
  function Form() {
    const [now, setNow] = useState(options);
    const onChange = (next: unknown) => {
      sent.options = next;
      setNow(next);
    };
    return <OptionsFields fields={fields} of="a" options={now} problems={problems} onChange={onChange} />;
  }
  render(<Form />);
  return sent;
}

const type = (label: string, value: string) =>
  fireEvent.input(screen.getByLabelText(label), { target: { value } });
/** Opens what is folded, whose fields are made then. */
const unfold = async () => {
  for (const more of document.querySelectorAll('details')) {
    more.open = true;
    fireEvent(more, new Event('toggle'));
  }
  await screen.findByLabelText('Pitch');
};
const field = (label: string) => screen.getByLabelText<HTMLInputElement>(label);
const reset = (name: string) => fireEvent.click(screen.getByLabelText(t('options.resetOne', { name })));

it('each kind of option is set by a control of its own, and left to the model again', async () => {
  const sent = open(undefined);
  expect(screen.queryByLabelText('Pitch')).toBeNull();
  await unfold();
  await userEvent.selectOptions(field('Styling'), 'rich');
  fireEvent.click(screen.getByRole('switch'));
  expect(sent.options).toEqual({ styling: 'rich', loud: false });
  fireEvent.click(screen.getByRole('switch'));
  expect([sent.options, field('Loud').ariaChecked ?? field('Loud').getAttribute('aria-checked')]).toEqual([
    { styling: 'rich', loud: true },
    'true',
  ]);
  await userEvent.selectOptions(field('Styling'), '');
  reset('Loud');
  expect(sent.options).toEqual({});
  type(t('options.slider', { name: 'Strength' }), '4');
  expect([sent.options, field('Strength').value]).toEqual([{ strength: 4 }, '4']);
  type('Strength', '');
  type('Cfg scale', '0.5');
  type('Who draws', 'me');
  type('Words', 'one\n\n two');
  type('Rules', '[{"a": 1}]');
  type('Pitch', '3');
  const set = { cfgScale: 0.5, author: 'me', words: ['one', ' two'], rules: [{ a: 1 }], voice: { pitch: 3 } };
  expect(sent.options).toEqual(set);
  // The empty line stays while somebody types.
  expect(field('Words').value).toBe('one\n\n two');
  expect(document.querySelector('summary')?.textContent).toBe(
    `${t('options.more')} ${t('options.set', { count: 5 })}`,
  );
  for (const label of ['Cfg scale', 'Who draws', 'Words', 'Rules', 'Pitch']) type(label, '');
  expect(sent.options).toEqual({});
});

it('a control says what it takes, and what the model takes by itself', async () => {
  open(undefined, {}, ['author']);
  await unfold();
  expect(screen.getByText('How it looks').closest('[id]')?.id).toBe(
    field('Styling').getAttribute('aria-describedby'),
  );
  expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual([
    t('options.default', { value: 'plain' }),
    'plain',
    'rich',
  ]);
  expect(screen.getByText(t('options.default', { value: t('value.true') }))).toBeDefined();
  const { min, max, step } = field('Strength');
  expect([min, max, step, field(t('options.slider', { name: 'Strength' })).value]).toEqual([
    '1',
    '9',
    '1',
    '1',
  ]);
  expect(screen.getByText(t('field.range', { from: 1, to: 9 }))).toBeDefined();
  expect([field('Cfg scale').placeholder, field('Cfg scale').step]).toEqual(['7', 'any']);
  expect(screen.queryByLabelText(t('options.slider', { name: 'Cfg scale' }))).toBeNull();
  expect(screen.getByText(t('options.atLeast', { from: -5 }))).toBeDefined();
  expect([field('Who draws').tagName, field('Who draws').maxLength, field('Story').tagName]).toEqual([
    'INPUT',
    40,
    'TEXTAREA',
  ]);
  expect(screen.getByText(t('options.most', { count: '40' }))).toBeDefined();
  expect(field('Who draws').getAttribute('aria-describedby')).toBeNull();
});

it('what fits no control is shown as JSON, which is not taken while it is none', () => {
  const sent = open({ strength: 'a lot' });
  expect(field('Strength').value).toBe('"a lot"');
  type('Strength', '{"a":');
  expect(screen.getByText(t('options.noJson'))).toBeDefined();
  expect([sent.options, field('Strength').validationMessage]).toEqual([
    { strength: 'a lot' },
    t('options.noJson'),
  ]);
  fireEvent.focusOut(field('Strength'));
  expect(field('Strength').value).toBe('{"a":');
  type('Strength', '["b"]');
  fireEvent.focusOut(field('Strength'));
  expect([sent.options, field('Strength').value]).toEqual([{ strength: ['b'] }, '[\n  "b"\n]']);
});

it('what the server says stands at its option, which is not folded away then', () => {
  open({}, { 'options.voice.pitch': 'is too low', 'options.unknown': 'is not taken', options: 'are wrong' });
  expect(document.querySelector('details')?.open).toBe(true);
  expect(field('Pitch').getAttribute('aria-invalid')).toBe('true');
  const alerts = screen.getAllByRole('alert').map(({ textContent }) => textContent);
  expect(alerts).toEqual(['is too low', 'are wrong']);
});

it('the rest is folded away until something of it is set', () => {
  open({ styling: 'rich' });
  expect(document.querySelector('details')?.open).toBe(false);
  document.body.replaceChildren();
  open({ author: 'me' });
  expect(document.querySelector('details')?.open).toBe(true);
});

const odd = {
  ...properties,
  bare: {},
  snake_caseName: { type: 'string', maxLength: 512, default: '' },
  story: { type: 'string', maxLength: 513 },
  empty: { type: 'string', enum: ['', 'x'], default: null },
  low: { type: 'integer', maximum: 3, default: 2 },
  whole: { type: 'integer', minimum: -9, maximum: -3 },
  fine: { type: 'number', minimum: 0, maximum: 1, default: 0.5 },
  seed: { type: 'integer' },
  group: {
    type: 'object',
    title: 'A group',
    properties: {
      must: { type: 'string' },
      deep: { type: 'object', properties: { on: { type: 'boolean' } } },
    },
  },
};
const filled = {
  styling: 'rich',
  loud: false,
  strength: 4,
  cfgScale: 0.5,
  author: 'me',
  story: 'once',
  words: ['a', 'b'],
  rules: [{ a: 1 }],
  voice: { pitch: 3 },
  low: 'text',
  group: { must: 'x', deep: { on: true } },
};

it('each kind of option says what it is called, takes and holds, untouched and set', async () => {
  const draw = (options: unknown, needed: readonly string[] = []) => {
    const fields = makeOptionFields({
      kind: 'IMAGE',
      schema: { properties: odd, required: needed },
      members: [],
    });
    const problems = { 'options.author': 'is unknown', 'options.words': 'are wrong' };
    const { container, unmount } = render(
      <OptionsFields
        fields={fields}
        of="a"
        options={options}
        problems={problems}
        onChange={() => undefined}
      />,
    );
    const lines = outline(container);
    unmount();
    return lines;
  };
  const needed = ['seed', 'author', 'snake_caseName', 'group', 'low'];
  await expect([draw(undefined, needed), draw(filled)].join('\n')).toMatchFileSnapshot(
    'outlines/options.txt',
  );
});

it('a slider and its number are one, and nothing is said of what has not changed', () => {
  let count = 0;
  const fields = makeOptionFields({ kind: 'IMAGE', schema: { properties }, members: [] });
  const change = () => (count += 1);
  render(<OptionsFields fields={fields} of="a" options={{ strength: 4 }} problems={{}} onChange={change} />);
  expect([field(t('options.slider', { name: 'Strength' })).value, field('Strength').value]).toEqual([
    '4',
    '4',
  ]);
  type('Strength', '4');
  expect(count).toBe(0);
  type(t('options.slider', { name: 'Strength' }), '5');
  expect(count).toBe(1);
});
