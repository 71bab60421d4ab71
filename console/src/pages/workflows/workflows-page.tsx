import { useQuery } from '@apollo/client/react';
import { Link } from '@tanstack/react-router';

import { useIsSignedIn } from '../../api/caller.ts';
import { SavedWorkflowsDocument } from '../../api/documents/workflows.ts';
import { Icon } from '../../parts/icons.tsx';
import { buttonLook } from '../../parts/looks/button.tsx';
import { Small } from '../../parts/looks/lines.tsx';
import { cardLook, Page, PageTop, Skeleton } from '../../parts/looks/panels.tsx';
import { FiguresCell, FiguresHead, TableFrame } from '../../parts/looks/table.tsx';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { Empty, Problem } from '../../parts/problem.tsx';
import { Ago } from '../../parts/time.tsx';
import { t } from '../../text/text.ts';

const MOST = 100;

/** ComfyUI graphs that were saved as functions: the caller's own and the published ones. */
export function WorkflowsPage() {
  const isSignedIn = useIsSignedIn();
  const { data, error } = useQuery(SavedWorkflowsDocument, {
    variables: { first: MOST },
    fetchPolicy: 'cache-and-network',
  });
  const workflows = data?.savedWorkflows ?? [];
  return (
    <>
      <PageTop>
        <PageHeading>{t('page.workflows')}</PageHeading>
        {isSignedIn && (
          <Link className={`${buttonLook({ kind: 'primary' })} ml-auto`} to="/workflows/new">
            <Icon name="plus" size={14} />
            {t('workflows.new')}
          </Link>
        )}
      </PageTop>
      <Page>
        {error !== undefined && <Problem error={error} />}
        {data === undefined && error === undefined && <Skeleton className="h-80" aria-busy="true" />}
        {data !== undefined && workflows.length === 0 && (
          <Empty
            title={t('workflows.none')}
            text={t(isSignedIn ? 'workflows.noneText' : 'workflows.signIn')}
          />
        )}
        {workflows.length > 0 && (
          <div className={cardLook}>
            <TableFrame label={t('page.workflows')}>
              <table>
                <thead>
                  <tr>
                    <th>{t('field.name')}</th>
                    <th className="max-sm:hidden">{t('workflows.makes')}</th>
                    <th>{t('workflows.published')}</th>
                    <FiguresHead wide>{t('workflows.changed')}</FiguresHead>
                  </tr>
                </thead>
                <tbody>
                  {workflows.map(({ id, description, category, published, updatedAt }) => (
                    <tr key={id}>
                      <td>
                        <Link className="font-medium" to="/workflows/$name" params={{ name: id }}>
                          {id}
                        </Link>
                        <Small className="block truncate min-w-0">{description.split('\n')[0]}</Small>
                      </td>
                      <td className="max-sm:hidden text-muted">
                        {t(`workflows.type.${findType(category)}`)}
                      </td>
                      <td>
                        {published === null
                          ? t('workflows.draft')
                          : t('workflows.version', { number: published })}
                      </td>
                      <FiguresCell wide>
                        <Ago at={updatedAt} />
                      </FiguresCell>
                    </tr>
                  ))}
                </tbody>
              </table>
            </TableFrame>
          </div>
        )}
      </Page>
    </>
  );
}

const TYPES = ['image', 'video', 'audio', 'text', 'file'] as const;

/** What a workflow makes, as far as there is a word for it. */
function findType(category: string): (typeof TYPES)[number] {
  return TYPES.find((one) => one === category) ?? 'file';
}
