import { type ReactNode, useEffect, useRef } from 'react';

import { t } from '../../text/text.ts';
import { Icon } from '../icons.tsx';
import { Button } from '../looks/button.tsx';

interface ModalProps {
  readonly title: string;
  readonly onClose: () => void;
  /** What is decided at its foot. */
  readonly foot?: ReactNode;
  /** Classes of its width, where that is another than usual, of its place in the window, and others. */
  readonly width?: string;
  readonly place?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A dialog over the page; Escape and its cross close it, the focus stays in it. */
export function Modal(props: ModalProps) {
  const { title, onClose, foot, children, className = '' } = props;
  const { width = 'w-[min(520px,calc(100vw-32px))]', place = 'm-auto' } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className={`${place} ${width} ${className}`} aria-label={title} onClose={onClose}>
      <header className="flex items-center gap-2 px-5 py-4">
        <h2>{title}</h2>
        <Button
          kind="ghost"
          icon
          className="ml-auto"
          onClick={() => dialog.current?.close()}
          aria-label={t('dialog.close')}
        >
          <Icon name="close" size={14} />
        </Button>
      </header>
      <div className="flex flex-col gap-4 px-5 pb-5">{children}</div>
      {foot !== undefined && (
        <footer className="flex items-center justify-end gap-2 border-t border-line px-5 py-4">{foot}</footer>
      )}
    </dialog>
  );
}
