import { compiler, type MarkdownToJSX } from 'markdown-to-jsx/react';
import { createElement, type ReactElement, type ReactNode } from 'react';

import { CopyButton } from '../../../parts/buttons.tsx';

/** What a model writes, as Markdown. It is made of elements, never of HTML: what looks like a tag stays text. */
export function Markdown({ text }: { readonly text: string }) {
  return (
    <div data-markdown className="wrap-anywhere leading-[22px] [&>*+*]:mt-3 [&>div>*+*]:mt-3">
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

const CELL = 'h-auto border border-line px-3 py-1 text-left';

const OPTIONS: MarkdownToJSX.Options = {
  disableParsingRawHTML: true,
  forceBlock: true,
  // Headings of answers are none of the page's.
  slugify: () => '',
  overrides: {
    a: Address,
    img: Image,
    pre: Code,
    code: InlineCode,
    table: Table,
    th: withLook(CELL),
    td: withLook(CELL),
    ul: withLook('list-disc pl-5 [&>li+li]:mt-1'),
    ol: withLook('list-decimal pl-5 [&>li+li]:mt-1'),
    blockquote: withLook('border-l-2 border-l-line-strong pl-3 text-muted'),
    hr: withLook('border-0 border-t border-t-line'),
    ...heading(),
  },
};

function withLook(className: string) {
  return { props: { className } };
}

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

/** Images of elsewhere are not fetched unasked: they would tell that somebody has read this. */
function Image({ src, alt }: { readonly src?: string; readonly alt?: string }) {
  if (src === undefined) return null;
  // A model may write what is no address.
  const origin = URL.canParse(src, document.baseURI) ? new URL(src, document.baseURI).origin : null;
  const isOurs = src.startsWith('data:image/') || origin === location.origin;
  return isOurs ? (
    <img className="max-w-full rounded-panel" src={src} alt={alt ?? ''} />
  ) : (
    <Address href={src}>{alt === '' ? src : alt}</Address>
  );
}

function InlineCode({ children }: { readonly children?: ReactNode }) {
  return <code className="rounded-small bg-active px-1 py-px font-mono [font-size:0.92em]">{children}</code>;
}

function Code({ children }: { readonly children?: ReactNode }) {
  const { props } = children as ReactElement<{ readonly className?: string; readonly children?: unknown }>;
  const text = typeof props.children === 'string' ? props.children : '';
  const language = /\blang(?:uage)?-([\w+#-]+)/.exec(props.className ?? '')?.[1];
  return (
    <div data-code className="border border-line rounded-panel overflow-hidden bg-sunken">
      <div className="flex items-center gap-2 border-b border-line py-0.5 pr-1 pl-3">
        <span className="text-faint text-12 font-normal">{language ?? ''}</span>
        <span className="ml-auto">
          <CopyButton text={text} />
        </span>
      </div>
      <pre
        className="m-0 overflow-x-auto p-3 [overflow-wrap:normal] [font:12.5px/19px_var(--mono)]"
        tabIndex={0}
      >
        <code>{text}</code>
      </pre>
    </div>
  );
}

function Table({ children }: { readonly children?: ReactNode }) {
  return (
    <div className="overflow-x-auto" role="region" tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}
