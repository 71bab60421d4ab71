import { type ReactNode, useEffect, useRef } from 'react';

import { t } from '../../text/text.ts';
import { Icon } from '../icons.tsx';

interface ModalProps {
  readonly title: string;
  readonly onClose: () => void;
  /** What is decided at its foot. */
  readonly foot?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A dialog over the page; Escape and its cross close it, the focus stays in it. */
export function Modal({ title, onClose, foot, className = 'modal', children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className={className} aria-label={title} onClose={onClose}>
      <header>
        <h2>{title}</h2>
        <button
          type="button"
          className="btn ghost ico ml-auto"
          onClick={() => dialog.current?.close()}
          aria-label={t('dialog.close')}
        >
          <Icon name="close" size={14} />
        </button>
      </header>
      <div>{children}</div>
      {foot !== undefined && <footer>{foot}</footer>}
    </dialog>
  );
}
