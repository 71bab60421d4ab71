import { useState } from 'react';

import { AuditDocument } from '../../api/documents/keys.ts';
import { usePages } from '../../api/use-pages.ts';
import { SearchField } from '../../parts/controls/fields.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Check, Chip } from '../../parts/looks/inputs.tsx';
import { Row } from '../../parts/looks/lines.tsx';
import { Card, CardHead } from '../../parts/looks/panels.tsx';
import { FiguresCell, FiguresHead } from '../../parts/looks/table.tsx';
import { PagedTable } from '../../parts/paged-table.tsx';
import { Empty } from '../../parts/problem.tsx';
import { Ago } from '../../parts/time.tsx';
import { Who } from '../../parts/who.tsx';
import { t } from '../../text/text.ts';

const PAGE = 20;

interface AuditProps {
  /** Whose entries are shown; undefined for everybody's. */
  readonly caller: string | undefined;
  readonly onCaller: (caller: string | undefined) => void;
}

/** Who did what, newest first, for administrators. */
export function Audit({ caller, onCaller }: AuditProps) {
  const [what, setWhat] = useState<string | undefined>(undefined);
  const [reads, setReads] = useState(true);
  const pages = usePages(AuditDocument, 'auditEntries', {
    variables: { first: PAGE, what: what ?? null, caller: caller ?? null, reads },
  });
  return (
    <Card id="audit">
      <CardHead title={t('audit.title')}>
        <label className="flex items-center gap-2 min-w-0 ml-auto">
          <Check checked={!reads} onChange={({ target }) => setReads(!target.checked)} />
          {t('audit.changesOnly')}
        </label>
        <span>
          <SearchField label={t('audit.whatHelp')} find={what} onSearch={setWhat} />
        </span>
      </CardHead>
      {caller !== undefined && (
        <Row as="p" className="p-4">
          <Chip aria-pressed="true" onClick={() => onCaller(undefined)}>
            {t('audit.onlyOf')} <Who id={caller} />
            <Icon name="close" size={12} />
          </Chip>
        </Row>
      )}
      <PagedTable
        label={t('audit.title')}
        pages={pages}
        empty={<Empty title={t('audit.none')} />}
        heads={
          <>
            <th>{t('audit.what')}</th>
            <th>{t('audit.target')}</th>
            <th>{t('audit.who')}</th>
            <th className="max-sm:hidden">{t('audit.from')}</th>
            <th className="max-sm:hidden">{t('audit.trace')}</th>
            <FiguresHead>{t('audit.when')}</FiguresHead>
          </>
        }
      >
        {pages.edges.map(({ node }) => (
          <tr key={node.id}>
            <td className="font-mono [font-size:12px]">{node.what}</td>
            <td className="max-w-45 truncate font-mono [font-size:12px]" title={node.target ?? undefined}>
              {node.target !== null && <Who id={node.target} />}
            </td>
            <td className="max-w-45 truncate font-mono [font-size:12px]" title={node.caller}>
              <button type="button" className="truncate link min-w-0" onClick={() => onCaller(node.caller)}>
                <Who id={node.caller} />
              </button>
            </td>
            <td className="max-sm:hidden text-muted">{node.address}</td>
            <td className="max-w-45 truncate max-sm:hidden font-mono [font-size:12px]" title={node.traceId}>
              {node.traceId}
            </td>
            <FiguresCell>
              <Ago at={node.at} />
            </FiguresCell>
          </tr>
        ))}
      </PagedTable>
    </Card>
  );
}
