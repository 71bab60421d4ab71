import { useEffect, useRef } from 'react';

interface PageHeadingProps {
  readonly children: string;
  readonly className?: string;
}

/** The first page is not gone to: its focus stays where the browser has put it. */
let isFirst = true;

/**
 * The heading of a page, which also names it in the title of the window. After a change of page the focus goes here, so
 * that it is read out and the next Tab is in the page; not where somebody is typing already.
 */
export function PageHeading({ children, className }: PageHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${children} · Kiln`;
  }, [children]);
  useEffect(() => {
    if (isFirst) isFirst = false;
    else if (!isTyping()) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1} className={`outline-none ${className ?? ''}`}>
      {children}
    </h1>
  );
}

function isTyping(): boolean {
  return document.activeElement?.matches('input, textarea, select, main [contenteditable]') ?? false;
}
