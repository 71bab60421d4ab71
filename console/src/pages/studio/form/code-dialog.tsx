import { useCaller } from '../../../api/caller.ts';
import { CodeTabs } from '../../../parts/code-tabs.tsx';
import { Modal } from '../../../parts/controls/modal.tsx';
import { t } from '../../../text/text.ts';
import { writePrograms } from '../../../work/program.ts';
import type { Choice, Values } from '../../../work/work.ts';

interface CodeDialogProps {
  readonly choice: Choice;
  readonly values: Values;
  readonly onClose: () => void;
}

/** What the form would send, as programs write it. */
export function CodeDialog({ choice, values, onClose }: CodeDialogProps) {
  const needsKey = useCaller()?.kind !== 'ANONYMOUS';
  return (
    <Modal title={t('studio.code')} onClose={onClose} width="w-[min(880px,calc(100vw_-_32px))]">
      <p className="text-muted">{t('studio.codeText')}</p>
      <CodeTabs title={choice.model.name} codes={writePrograms(choice, values, needsKey)} />
    </Modal>
  );
}
