import { useEffect, useRef, useState } from 'react';

import { Icon } from '../../parts/icons.tsx';
import { t } from '../../text/text.ts';

interface ViewerProps {
  readonly url: string;
  readonly name: string;
  readonly onClose: () => void;
}

/** A picture over the whole window; a click or Z changes between fitting and its own pixels. */
export function Viewer({ url, name, onClose }: ViewerProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isFull, setIsFull] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const toggle = () => setIsFull((before) => !before);
  return (
    <dialog
      ref={dialog}
      className={isFull ? 'viewer full' : 'viewer'}
      aria-label={name}
      onClose={onClose}
      onKeyDown={({ key }) => {
        if (key === 'z' || key === 'Z') toggle();
      }}
    >
      <button
        type="button"
        className="viewer-picture"
        aria-pressed={isFull}
        onClick={toggle}
        aria-label={t('gallery.zoom')}
      >
        <img src={url} alt={name} />
      </button>
      <button
        type="button"
        className="onpic ico viewer-close"
        onClick={() => dialog.current?.close()}
        aria-label={t('gallery.close')}
      >
        <Icon name="close" size={14} />
      </button>
    </dialog>
  );
}
