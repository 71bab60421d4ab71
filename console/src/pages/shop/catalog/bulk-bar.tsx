import { useMutation } from '@apollo/client/react';

import type { TemplateOperation } from '../../../api/documents/operations.ts';
import {
  CatalogDocument,
  ChangeTemplatesDocument,
  ShopDocument,
  UnrunnableDocument,
} from '../../../api/documents/shop.ts';
import { Icon } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Figures, Row } from '../../../parts/looks/lines.tsx';
import { noteLook } from '../../../parts/looks/panels.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';

const OPERATIONS: readonly TemplateOperation[] = ['ACTIVATE', 'DEACTIVATE', 'SYNC', 'DELETE'];

interface BulkBarProps {
  readonly codes: readonly string[];
  /** Called when all of it was done. */
  readonly onDone: () => void;
}

/** Does the same to all selected templates; what could not be done stays selected and says why. */
export function BulkBar({ codes, onDone }: BulkBarProps) {
  const [change, { data, error, loading }] = useMutation(ChangeTemplatesDocument, {
    refetchQueries: [CatalogDocument, ShopDocument, UnrunnableDocument],
    awaitRefetchQueries: true,
  });
  if (codes.length === 0) return null;
  const failed = data?.changeTemplates.failed ?? [];
  const act = (operation: TemplateOperation) => {
    if (operation === 'DELETE' && !window.confirm(t('shop.deleteMany', { count: codes.length }))) return;
    change({ variables: { codes: [...codes], operation } }).then(
      ({ data: answer }) => {
        if (answer?.changeTemplates.failed.length === 0) onDone();
      },
      () => undefined,
    );
  };
  return (
    <div className="p-4 flex flex-col gap-2 min-w-0" role="region" aria-label={t('shop.selected')}>
      <Row wrap>
        <Figures className="font-medium">{t('gallery.selected', { count: codes.length })}</Figures>
        {OPERATIONS.map((operation) => (
          <Button
            key={operation}
            kind={operation === 'DELETE' ? 'bad' : 'plain'}
            size="small"
            disabled={loading}
            onClick={() => act(operation)}
          >
            {t(`shop.operation.${operation}`)}
          </Button>
        ))}
        <Button kind="ghost" size="small" onClick={onDone}>
          {t('gallery.clear')}
        </Button>
      </Row>
      {error !== undefined && <Problem error={error} />}
      {failed.length > 0 && (
        <ul className={noteLook('bad')} role="alert">
          {failed.map(({ code, error: reason }) => (
            <li key={code} className="flex items-center gap-2 min-w-0">
              <Icon name="warning" size={14} />
              <span className="font-mono [font-size:12px]">{code}</span> {reason}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
