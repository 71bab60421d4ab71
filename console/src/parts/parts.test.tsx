import { act, fireEvent, render, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../testing/outline.ts';
import { renderOverServer } from '../testing/over-server.tsx';
import { t } from '../text/text.ts';
import { BackLink, CopyButton, MoreButton } from './buttons.tsx';
import { CodeTabs } from './code-tabs.tsx';
import { Fact, FactList, FactValue, Id, SettingNames } from './facts.tsx';
import { PagedTable } from './paged-table.tsx';
import { providerName } from './provider-name.ts';
import { saveAddress, saveAs } from './save-as.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  document.body.replaceChildren();
});

const copied = () => vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();

it('a text is copied, which is said for a moment', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const write = copied();
  render(<CopyButton text="words" />);
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/copy.txt');
  await act(async () => void fireEvent.click(screen.getByLabelText(t('copy'))));
  expect(write).toHaveBeenCalledExactlyOnceWith('words');
  expect(screen.getByLabelText(t('copied'))).toBeDefined();
  void act(() => void vi.advanceTimersByTime(1_499));
  expect(screen.queryByLabelText(t('copied'))).not.toBeNull();
  void act(() => void vi.advanceTimersByTime(1));
  expect(screen.queryByLabelText(t('copied'))).toBeNull();
});

it('a text that can not be copied is not said to be, and nothing offers it where no page may copy', async () => {
  const refused = Promise.reject(new DOMException('not allowed', 'NotAllowedError'));
  vi.spyOn(navigator.clipboard, 'writeText').mockReturnValue(refused);
  const { rerender } = render(<CopyButton text="words" />);
  await act(async () => void fireEvent.click(screen.getByLabelText(t('copy'))));
  expect(screen.queryByLabelText(t('copied'))).toBeNull();
  vi.spyOn(navigator, 'clipboard', 'get').mockReturnValue(undefined as never);
  rerender(<CopyButton text="other words" />);
  expect(screen.queryByLabelText(t('copy'))).toBeNull();
});

it('facts are told by name', async () => {
  render(
    <>
      <FactList>
        <Fact name="Name">Ada</Fact>
        <FactValue className="a">more</FactValue>
      </FactList>
      <FactList className="a" />
      <Id text="task-one" />
    </>,
  );
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/facts.txt');
});

it.each([
  ['A_KEY', 'A_KEY', 'A_KEY='],
  ['A_KEY and B_KEY, or C_KEY', 'A_KEY and B_KEY or C_KEY', 'A_KEY=\nB_KEY=\nC_KEY='],
  ['A_KEY, B_KEY; C_KEY, and D_KEY', 'A_KEY, B_KEY, C_KEY and D_KEY', 'A_KEY=\nB_KEY=\nC_KEY=\nD_KEY='],
])('settings are named, and copied as lines of an .env file: %s', async (text, said, lines) => {
  const write = copied();
  render(<SettingNames text={text} />);
  const words = (document.querySelector('span')?.textContent ?? '').replaceAll(/\s+/g, ' ').trim();
  expect(words.replaceAll(/[\s,]/g, '')).toBe(said.replaceAll(/[\s,]/g, ''));
  expect([...document.querySelectorAll('code')].map(({ textContent }) => `${textContent}=`).join('\n')).toBe(
    lines,
  );
  fireEvent.click(screen.getByLabelText(t('copy')));
  await waitFor(() => expect(write).toHaveBeenCalledWith(lines));
});

it('the words between settings are those of the reader', async () => {
  render(<SettingNames text="A_KEY, B_KEY; C_KEY and D_KEY, or E_KEY" />);
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/settings.txt');
});

it('a program is shown in the language that is chosen, and copied', async () => {
  const write = copied();
  render(<CodeTabs title="The same" codes={{ curl: 'curl -s', Python: 'import json' }} />);
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/code-tabs.txt');
  fireEvent.click(screen.getByRole('tab', { name: 'Python' }));
  await waitFor(() => expect(document.querySelector('pre')?.textContent).toBe('import json'));
  fireEvent.click(screen.getByLabelText(t('copy')));
  await waitFor(() => expect(write).toHaveBeenCalledWith('import json'));
});

it('there may be no program at all', () => {
  render(<CodeTabs title="The same" codes={{}} />);
  expect(screen.queryAllByRole('tab')).toEqual([]);
  expect(document.querySelector('pre')?.textContent ?? '').toBe('');
});

it('a list goes on by a press, while there is more of it', async () => {
  const onMore = vi.fn<() => void>();
  const { rerender } = render(<MoreButton isLoading={false} onMore={onMore} />);
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/more.txt');
  fireEvent.click(screen.getByText(t('list.more')));
  expect(onMore).toHaveBeenCalledOnce();
  rerender(<MoreButton isLoading onMore={onMore} />);
  expect(screen.getByText<HTMLButtonElement>(t('list.more')).disabled).toBe(true);
  rerender(<MoreButton isLoading={false} onMore={null} />);
  expect(screen.queryByText(t('list.more'))).toBeNull();
});

it('the way back leads to the list', async () => {
  renderOverServer({}, <BackLink to="/shop" search={{ view: 'payments' }} label="All payments" />);
  await screen.findByLabelText('All payments');
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/back.txt');
});

const pages = (change: object = {}) =>
  ({ list: { edges: [] }, edges: [], error: undefined, isLoading: false, more: null, ...change }) as never;

it('a list that is read page by page is a table, or says why there is none', async () => {
  renderOverServer(
    {},
    <>
      <PagedTable label="loading" pages={pages({ list: undefined })} empty="nothing">
        rows
      </PagedTable>
      <PagedTable label="empty" pages={pages()} empty="nothing">
        rows
      </PagedTable>
      <PagedTable label="refused" pages={pages({ list: undefined, error: new Error('no') })} empty="nothing">
        rows
      </PagedTable>
      <PagedTable
        label="one"
        pages={pages({ edges: [1], isLoading: true, more: () => undefined })}
        empty="nothing"
      >
        <tr />
      </PagedTable>
      <PagedTable label="heads" pages={pages({ edges: [1] })} empty="nothing" heads={<th>Head</th>}>
        <tr />
      </PagedTable>
    </>,
  );
  await screen.findByText('Head');
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/paged-tables.txt');
});

it('a provider is called as its vendor calls it', () => {
  const known = {
    ark: 'ModelArk',
    comfyui: 'ComfyUI',
    fal: 'fal',
    gemini: 'Google Gemini',
    hedra: 'Hedra',
    higgsfield: 'Higgsfield',
    kling: 'Kling',
    midjourney: 'Midjourney',
    minimax: 'MiniMax',
    openai: 'OpenAI',
    'openai-compatible': 'OpenAI-compatible',
    replicate: 'Replicate',
    'stable-diffusion-webui': 'Stable Diffusion WebUI',
    volcengine: 'Volcengine',
    'of-our-own': 'of-our-own',
  };
  for (const [provider, name] of Object.entries(known)) expect(providerName(provider)).toBe(name);
});

it('what this page holds is saved under a name, and let go later', () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const links: HTMLAnchorElement[] = [];
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    links.push(this);
  });
  vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:one');
  const revoke = vi.spyOn(URL, 'revokeObjectURL').mockReturnValue();
  saveAs(new Blob(['a']), 'usage.csv');
  saveAddress('https://kiln.test/files/a', 'a.png');
  expect(links.map(({ href, download }) => [href, download])).toEqual([
    ['blob:one', 'usage.csv'],
    ['https://kiln.test/files/a', 'a.png'],
  ]);
  vi.advanceTimersByTime(59_999);
  expect(revoke).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(revoke).toHaveBeenCalledExactlyOnceWith('blob:one');
});
