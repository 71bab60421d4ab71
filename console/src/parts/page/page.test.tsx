import { fireEvent, render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';

import { SearchField } from '../controls/fields.tsx';
import { later } from './later.tsx';
import { PageHeading } from './page-heading.tsx';

it('a heading names the window, and has the focus after a change of page', () => {
  const { rerender } = render(<PageHeading key="a">Studio</PageHeading>);
  expect(document.title).toBe('Studio · Kiln');
  expect(document.activeElement).toBe(document.body);
  rerender(<PageHeading key="b">Gallery</PageHeading>);
  expect(document.title).toBe('Gallery · Kiln');
  expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'Gallery' }));
});

it('a heading leaves the focus where somebody is typing', async () => {
  const page = (name: string) => (
    <>
      <input aria-label="Prompt" />
      <PageHeading key={name}>{name}</PageHeading>
    </>
  );
  const { rerender } = render(page('Gallery'));
  await userEvent.click(screen.getByLabelText('Prompt'));
  rerender(page('Tasks'));
  expect(document.activeElement).toBe(screen.getByLabelText('Prompt'));
});

it('code that is loaded later is drawn when it is there', async () => {
  const Part = later<{ readonly name: string }>(
    async () =>
      ({ name }) => <p>{name} is here</p>,
    {
      fallback: ({ name }) => <p>{name} comes</p>,
    },
  );
  render(<Part name="It" />);
  expect(screen.getByText('It comes')).toBeDefined();
  expect(await screen.findByText('It is here')).toBeDefined();
});

it('code that can not be loaded is said in its place, and the rest of the page stays', async () => {
  // The server has this build still.
  const asked = vi
    .spyOn(globalThis, 'fetch')
    .mockImplementation(async () => new Response('<title>Kiln</title>'));
  const Part = later(() => Promise.reject(new TypeError('failed to fetch')));
  render(
    <>
      <p>the rest</p>
      <Part />
    </>,
  );
  expect(await screen.findByRole('button', { name: 'Try again' })).toBeDefined();
  expect(screen.getByText('the rest')).toBeDefined();
  expect(asked).toHaveBeenCalledWith(document.baseURI, { cache: 'no-store' });
  asked.mockRestore();
});

it('a search is gone to by a slash, and looks for words without the spaces around them', async () => {
  const onSearch = vi.fn<(find: string | undefined) => void>();
  render(<SearchField label="Find" find="fox" onSearch={onSearch} />);
  const field = screen.getByRole<HTMLInputElement>('searchbox', { name: 'Find' });
  expect(field.value).toBe('fox');
  fireEvent.keyDown(document.body, { key: 'a' });
  expect(document.activeElement).toBe(document.body);
  fireEvent.keyDown(document.body, { key: '/' });
  expect(document.activeElement).toBe(field);
  for (const words of [' red fox ', '  ']) {
    fireEvent.input(field, { target: { value: words } });
    fireEvent.submit(screen.getByRole('search'));
  }
  expect(onSearch.mock.calls).toEqual([['red fox'], [undefined]]);
});
