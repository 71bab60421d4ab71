import { act, fireEvent, render, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { submit } from '../../testing/use.ts';
import { t } from '../../text/text.ts';
import { BoundField, InputField, SearchField, SelectField } from './fields.tsx';
import { Modal } from './modal.tsx';
import { ImageTool, SelectionRegion, Tick } from './selection.tsx';
import { hasSingleKeys, MODIFIER, setSingleKeys, useDebounced } from './typing.ts';

afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

it('fields have their label, what may be typed, and what is said of them', async () => {
  const onChange = vi.fn<(value: string) => void>();
  render(
    <>
      <InputField label="Name" defaultValue="Ada" />
      <InputField label="Generator" names={['imga', 'vida']}>
        words
      </InputField>
      <SelectField label="Kind" options={[['a', 'A']]}>
        words
      </SelectField>
      <BoundField label="Most" step={1} value="3" onChange={onChange} />
      <SearchField label="Find" find={undefined} onSearch={() => undefined} />
    </>,
  );
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/fields.txt');
  const names = screen.getByLabelText<HTMLInputElement>('Generator').getAttribute('list');
  expect(document.querySelector('datalist')?.id).toBe(names);
  expect(screen.getByLabelText('Name').getAttribute('list')).toBeNull();
  fireEvent.change(screen.getByLabelText('Most'), { target: { value: '4' } });
  expect(onChange).toHaveBeenCalledExactlyOnceWith('4');
});

it('a search listens to its key as long as it is there, and keeps the page', async () => {
  const { unmount } = render(<SearchField label="Find" find={undefined} onSearch={() => undefined} />);
  const field = screen.getByRole('searchbox');
  submit(field.closest('form'));
  const slash = new KeyboardEvent('keydown', { key: '/', bubbles: true, cancelable: true });
  document.body.dispatchEvent(slash);
  // The slash is not written into it.
  expect(slash.defaultPrevented).toBe(true);
  const held = new KeyboardEvent('keydown', { key: '/', ctrlKey: true, bubbles: true, cancelable: true });
  document.body.dispatchEvent(held);
  expect(held.defaultPrevented).toBe(false);
  unmount();
  await waitFor(() => {
    const after = new KeyboardEvent('keydown', { key: '/', bubbles: true, cancelable: true });
    document.body.dispatchEvent(after);
    expect(after.defaultPrevented).toBe(false);
  });
});

it('a dialog is over the page, and closes by its cross', async () => {
  const onClose = vi.fn<() => void>();
  render(
    <Modal title="Title" onClose={onClose} foot="foot">
      words
    </Modal>,
  );
  const dialog = document.querySelector('dialog');
  await vi.waitFor(() => expect(dialog?.open).toBe(true));
  await expect(outline(dialog)).toMatchFileSnapshot('outlines/modal.txt');
  fireEvent.click(screen.getByLabelText(t('dialog.close')));
  await vi.waitFor(() => expect(onClose).toHaveBeenCalledOnce());
  expect(dialog?.open).toBe(false);
});

it('a dialog may be of another width and place, without a foot', async () => {
  render(
    <Modal title="Title" onClose={() => undefined} width="w-20" place="mt-2" className="a">
      words
    </Modal>,
  );
  expect(document.querySelector('dialog')?.className).toBe('mt-2 w-20 a');
  expect(document.querySelector('footer')).toBeNull();
});

it('images are selected, and have tools on them', async () => {
  const onClick = vi.fn<() => void>();
  render(
    <>
      <ImageTool icon="star" label="Star" onClick={onClick} />
      <ImageTool icon="star" label="Star it" onClick={onClick} className="a" />
      <Tick isOn={false} label="Select" size={14} onClick={onClick} className="a" />
      <Tick isOn label="Selected" title="one" size={12} onClick={onClick} className="a" />
      <SelectionRegion label="Selected">words</SelectionRegion>
    </>,
  );
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/selection.txt');
  for (const button of screen.getAllByRole('button')) fireEvent.click(button);
  for (const tick of screen.getAllByRole('checkbox')) fireEvent.click(tick);
  expect(onClick).toHaveBeenCalledTimes(4);
});

it('single keys are turned off and on, which the browser remembers', () => {
  expect(hasSingleKeys()).toBe(true);
  setSingleKeys(false);
  expect([hasSingleKeys(), localStorage.getItem('kiln.keys')]).toEqual([false, 'off']);
  setSingleKeys(true);
  expect([hasSingleKeys(), localStorage.getItem('kiln.keys')]).toEqual([true, 'on']);
  expect(MODIFIER).toBe('Ctrl ');
});

it('a value counts once it has rested', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const Rested = ({ value }: { readonly value: string }) => <p>{useDebounced(value, 300)}</p>;
  const { rerender } = render(<Rested value="a" />);
  const text = () => document.querySelector('p')?.textContent;
  const wait = (ms: number) => void act(() => void vi.advanceTimersByTime(ms));
  rerender(<Rested value="b" />);
  wait(299);
  expect(text()).toBe('a');
  rerender(<Rested value="c" />);
  wait(299);
  expect(text()).toBe('a');
  wait(1);
  expect(text()).toBe('c');
});
