import { render } from '@testing-library/preact';
import { expect, it } from 'vitest';

import { outline } from '../../../testing/outline.ts';
import { Markdown } from './markdown.tsx';

const drawn = (text: string) => {
  const { container, unmount } = render(<Markdown text={text} />);
  const lines = outline(container);
  unmount();
  return lines;
};

it('draws what a model writes as elements, never as HTML', async () => {
  const text = [
    '# One',
    '## Two',
    '###### Six',
    'A *word* and `code`.',
    '- a\n- b',
    '1. c\n2. d',
    '> said',
    '---',
    '| a | b |\n|---|---|\n| 1 | 2 |',
    '```ts\nconst a = 1;\n```',
    '```\nplain\n```',
    '<b>no tag</b> <script>alert(1)</script>',
    'a  \nline',
  ].join('\n\n');
  await expect(drawn(text)).toMatchFileSnapshot('outlines/markdown.txt');
});

it('leads where it is safe, and fetches no image of elsewhere', async () => {
  const text = [
    '[web](https://a.example/x)',
    '[mail](mailto:a@b.example)',
    '[ours](/tasks)',
    '[script](javascript:alert(1))',
    '[odd](ftp://a.example)',
    '![own](/files/a.png)',
    '![data](data:image/png;base64,AAAA)',
    '![far](https://a.example/a.png)',
    '![](https://a.example/b.png)',
    '![](/files/b.png)',
    '![no address](http://[)',
  ].join('\n\n');
  await expect(drawn(text)).toMatchFileSnapshot('outlines/markdown-links.txt');
});
