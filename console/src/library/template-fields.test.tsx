import { fireEvent, render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, it } from 'vitest';

import { outline } from '../testing/outline.ts';
import type { Values } from '../work/work.ts';
import { TemplateFields } from './template-fields.tsx';

const parameters = {
  free: { type: 'string', description: 'Whatever you like', maxLength: 30 },
  scale: { type: 'number', minimum: 0, maximum: 2, default: 1.5 },
  rounds: { type: 'integer', multipleOf: 2, required: true },
  look: { type: 'string', values: ['low', 'odd'] },
  imageUrl: { type: 'url', required: true },
  clip: { type: 'file' },
  prompt: { type: 'string', maxLength: 200, default: 'a lake' },
  style: { type: 'string', required: true },
};

function open(values: Values = {}) {
  const filled = { values };
  function Form() {
    const [now, setNow] = useState(values);
    const onChange = (next: Values) => {
      filled.values = next;
      setNow(next);
    };
    return <TemplateFields parameters={parameters} values={now} onChange={onChange} />;
  }
  render(<Form />);
  return filled;
}

it('each parameter has the control of its type: the prompt first, then what is needed', async () => {
  open({ look: 'odd', free: 'x', scale: 0.5 });
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/template-fields.txt');
});

it('what is typed and chosen is held, numbers as numbers, and what is emptied is nothing', async () => {
  const filled = open({ prompt: 'a fox' });
  const type = (label: RegExp, value: string) =>
    fireEvent.input(screen.getByLabelText(label), { target: { value } });
  type(/^Prompt/, 'a crane');
  type(/^scale/, '0.5');
  type(/^rounds/, '4');
  type(/^style/, 'bold');
  await userEvent.selectOptions(screen.getByLabelText(/^look/), 'low');
  expect(filled.values).toEqual({ prompt: 'a crane', scale: 0.5, rounds: 4, style: 'bold', look: 'low' });
  type(/^scale/, '');
  type(/^style/, '');
  expect(filled.values).toEqual({ prompt: 'a crane', scale: null, rounds: 4, style: '', look: 'low' });
});
