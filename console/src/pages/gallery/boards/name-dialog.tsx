import { useId, useState } from 'react';

import { Modal } from '../../../parts/controls/modal.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Input } from '../../../parts/looks/inputs.tsx';
import { t } from '../../../text/text.ts';

interface NameDialogProps {
  readonly title: string;
  readonly name: string;
  /** Whether the name was taken; else the dialog stays. */
  readonly onName: (name: string) => Promise<boolean>;
  readonly onClose: () => void;
}

const MOST = 100;

/** Asks for the name of a board. */
export function NameDialog({ title, name, onName, onClose }: NameDialogProps) {
  const field = useId();
  const [text, setText] = useState(name);
  const save = async () => {
    if (await onName(text.trim())) onClose();
  };
  return (
    <Modal title={title} onClose={onClose}>
      <form
        className="flex items-center gap-2 min-w-0"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label className="sr-only" htmlFor={field}>
          {t('board.name')}
        </label>
        <Input
          id={field}
          className="flex-1 min-w-0"
          // The dialog was opened to write it.
          ref={(input) => input?.focus()}
          required
          maxLength={MOST}
          placeholder={t('board.name')}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <Button type="submit" kind="primary" disabled={text.trim() === ''}>
          {t('board.save')}
        </Button>
      </form>
    </Modal>
  );
}
