import type { ComponentProps } from 'react';

import { cancelTask } from '../../api/live-tasks.ts';
import { t } from '../../text/text.ts';
import { Icon } from '../icons.tsx';
import { Button } from '../looks/button.tsx';

interface CancelButtonProps extends Pick<ComponentProps<typeof Button>, 'kind' | 'size' | 'className'> {
  /** Null where it may not be seen. */
  readonly task: { readonly id: string; readonly cancelRequestedAt: string | null } | null;
  /** Called with why it is not cancelled; with null when that is tried again. */
  readonly onFailed: (error: unknown) => void;
}

/** Asks for the end of a task, once. */
export function CancelButton({ task, onFailed, ...look }: CancelButtonProps) {
  const cancel = (id: string) => {
    onFailed(null);
    cancelTask(id).catch(onFailed);
  };
  return (
    <Button
      {...look}
      disabled={task === null || task.cancelRequestedAt !== null}
      onClick={() => task !== null && cancel(task.id)}
    >
      <Icon name="close" size={14} />
      {t('task.cancel')}
    </Button>
  );
}
