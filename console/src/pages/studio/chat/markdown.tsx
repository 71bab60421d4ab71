import { compiler, type MarkdownToJSX } from 'markdown-to-jsx/react';
import { createElement, type ReactElement, type ReactNode } from 'react';

import { CopyButton } from '../../../parts/buttons.tsx';

/** What a model writes, as Markdown. It is made of elements, never of HTML: what looks like a tag stays text. */
export function Said({ text }: { readonly text: string }) {
  return (
    <div
      data-markdown
      className="wrap-anywhere leading-[22px] [&>*+*]:mt-3 [&>div>*+*]:mt-3 [&_ul]:pl-5 [&_ul]:[list-style:disc] [&_ol]:pl-5 [&_ol]:[list-style:decimal] [&_blockquote]:border-l-2 [&_blockquote]:border-l-line-strong [&_blockquote]:pl-3 [&_blockquote]:text-muted [&_img]:max-w-full [&_img]:rounded-panel [&_hr]:border-0 [&_hr]:border-t [&_hr]:border-t-line [&_li+li]:mt-1 [&_:not(pre)>code]:font-mono [&_:not(pre)>code]:[font-size:0.92em] [&_:not(pre)>code]:bg-active [&_:not(pre)>code]:rounded-small [&_:not(pre)>code]:py-px [&_:not(pre)>code]:px-1"
    >
      {drawn(compiler(text, OPTIONS))}
    </div>
  );
}

/** The same elements made anew: the library makes React's by hand, which Preact does not draw. */
function drawn(node: ReactNode): ReactNode {
  if (Array.isArray(node)) return node.map(drawn);
  if (typeof node !== 'object' || node === null || !('props' in node)) return node;
  const { type, key, props } = node as ReactElement<{ readonly children?: ReactNode }>;
  return createElement(type, { ...props, key }, drawn(props.children));
}

const OPTIONS: MarkdownToJSX.Options = {
  disableParsingRawHTML: true,
  forceBlock: true,
  // Headings of answers are none of the page's.
  slugify: () => '',
  overrides: { a: Address, img: Picture, pre: Code, table: Table, ...heading() },
};

function heading() {
  const Heading = ({ children }: { readonly children?: ReactNode }) => (
    <p className="text-16 font-semibold">{children}</p>
  );
  return Object.fromEntries(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((tag) => [tag, Heading]));
}

function Address({ href, children }: { readonly href?: string; readonly children?: ReactNode }) {
  if (href === undefined || !/^(https?:|mailto:|\/)/.test(href)) return <span>{children}</span>;
  return (
    <a className="link" href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

/** Pictures of elsewhere are not fetched unasked: they would tell that somebody has read this. */
function Picture({ src, alt }: { readonly src?: string; readonly alt?: string }) {
  if (src === undefined) return null;
  const isOurs = src.startsWith('data:image/') || new URL(src, document.baseURI).origin === location.origin;
  return isOurs ? <img src={src} alt={alt ?? ''} /> : <Address href={src}>{alt === '' ? src : alt}</Address>;
}

function Code({ children }: { readonly children?: ReactNode }) {
  const { props } = children as ReactElement<{ readonly className?: string; readonly children?: unknown }>;
  const text = typeof props.children === 'string' ? props.children : '';
  const language = /\blang(?:uage)?-([\w+#-]+)/.exec(props.className ?? '')?.[1];
  return (
    <div
      data-code
      className="border border-line rounded-panel overflow-hidden bg-sunken [&_pre]:m-0 [&_pre]:p-3 [&_pre]:overflow-x-auto [&_pre]:[overflow-wrap:normal] [&_pre]:[font:12.5px/19px_var(--mono)]"
    >
      <div className="flex items-center gap-2 border-b border-line py-0.5 pr-1 pl-3">
        <span className="text-faint text-12 font-normal">{language ?? ''}</span>
        <span className="ml-auto">
          <CopyButton text={text} />
        </span>
      </div>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  );
}

function Table({ children }: { readonly children?: ReactNode }) {
  return (
    <div
      className="overflow-x-auto [&_th]:border [&_th]:border-line [&_th]:h-auto [&_th]:py-1 [&_th]:px-3 [&_th]:text-left [&_td]:border [&_td]:border-line [&_td]:h-auto [&_td]:py-1 [&_td]:px-3 [&_td]:text-left [&_tr:last-child_td]:border-b [&_tr:last-child_td]:border-b-line"
      role="region"
      tabIndex={0}
    >
      <table>{children}</table>
    </div>
  );
}
