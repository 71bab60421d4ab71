import { useEffect, useRef } from 'react';

interface PageHeadingProps {
  readonly children: string;
  readonly className?: string;
}

/** Ends the title of every page; that of the document that the server sends has no such end. */
const TITLE_END = ' · Kiln';

/**
 * The heading of a page, which also names it in the title of the window. After a change of page the focus goes here, so
 * that it is read out and the next Tab is in the page; not where somebody is typing already.
 */
export function PageHeading({ children, className }: PageHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The first page is not gone to: its focus stays where the browser has put it. Before the title is changed.
    const isFirst = !document.title.endsWith(TITLE_END);
    if (!isFirst && !isTyping()) heading.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    document.title = `${children}${TITLE_END}`;
  }, [children]);
  return (
    <h1 ref={heading} tabIndex={-1} className={`outline-none ${className ?? ''}`}>
      {children}
    </h1>
  );
}

function isTyping(): boolean {
  return document.activeElement?.matches('input, textarea, select, main [contenteditable]') ?? false;
}
