import { useMutation, useQuery } from '@apollo/client/react';
import { Link, useNavigate, useParams } from '@tanstack/react-router';

import { ModelsDocument } from '../../api/documents/api.ts';
import type { WorkflowPartsFragment } from '../../api/documents/operations.ts';
import {
  DeleteWorkflowDocument,
  PublishWorkflowDocument,
  RollBackWorkflowDocument,
  SavedWorkflowDocument,
  SavedWorkflowsDocument,
  WithdrawWorkflowDocument,
} from '../../api/documents/workflows.ts';
import { BackLink } from '../../parts/buttons.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Button, buttonLook } from '../../parts/looks/button.tsx';
import { helpLook } from '../../parts/looks/inputs.tsx';
import { Figures, Row, Small } from '../../parts/looks/lines.tsx';
import { Card, CardHead, Page, PageTop, Tag } from '../../parts/looks/panels.tsx';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { NotFound, Problem } from '../../parts/problem.tsx';
import { Ago } from '../../parts/time.tsx';
import { t } from '../../text/text.ts';
import { setDraft } from '../../work/keeper.ts';
import { TryOut } from './try-out.tsx';

/** One saved graph: its versions, which of them everybody runs, and trying one out. */
export function WorkflowPage() {
  const { name } = useParams({ from: '/workflows/$name' });
  const { data, error } = useQuery(SavedWorkflowDocument, {
    variables: { id: name },
    fetchPolicy: 'cache-and-network',
  });
  if (error !== undefined && data === undefined) return <Problem error={error} />;
  if (data === undefined) return <Page aria-busy="true" />;
  const workflow = data.savedWorkflow;
  if (workflow === null) return <NotFound text={t('workflows.gone')} />;
  const [newest] = workflow.versions;
  return (
    <>
      <Head workflow={workflow} />
      <Page>
        {workflow.description !== '' && <p className="text-muted">{workflow.description}</p>}
        <Publication workflow={workflow} />
        {newest !== undefined && (
          <TryOut key={newest.number} name={workflow.id} versions={workflow.versions} />
        )}
      </Page>
    </>
  );
}

function Head({ workflow: { id, mine, model, published } }: { readonly workflow: WorkflowPartsFragment }) {
  const navigate = useNavigate();
  const open = () => {
    setDraft('comfy', { key: `COMFY_WORKFLOW comfy ${model}`, values: {} });
    void navigate({ to: '/', search: { kind: 'comfy' } });
  };
  return (
    <PageTop>
      <BackLink to="/workflows" label={t('workflows.all')} />
      <PageHeading className="min-w-0 flex-[1_1_240px] truncate">{id}</PageHeading>
      <Row as="span" className="ml-auto">
        {mine && (
          <Link className={buttonLook()} to="/workflows/new" search={{ of: id }}>
            <Icon name="plus" size={14} />
            {t('workflows.next')}
          </Link>
        )}
        {published !== null && (
          <Button kind="primary" onClick={open}>
            <Icon name="studio" size={14} />
            {t('workflows.studio')}
          </Button>
        )}
      </Row>
    </PageTop>
  );
}

/** The versions, and the buttons that give one to everybody, take it back or remove all. */
function Publication({ workflow }: { readonly workflow: WorkflowPartsFragment }) {
  const { id, mine, published, previous, versions } = workflow;
  const navigate = useNavigate();
  // A published one is a model of the Studio.
  const after = { refetchQueries: [ModelsDocument, SavedWorkflowsDocument] };
  const [publish, publishing] = useMutation(PublishWorkflowDocument, after);
  const [rollBack, rolling] = useMutation(RollBackWorkflowDocument, after);
  const [withdraw, withdrawing] = useMutation(WithdrawWorkflowDocument, after);
  const [remove, removing] = useMutation(DeleteWorkflowDocument, after);
  const all = [publishing, rolling, withdrawing, removing];
  const isBusy = all.some(({ loading }) => loading);
  const error = all.find((one) => one.error !== undefined)?.error;
  const done = (answer: Promise<unknown>) => void answer.catch(() => undefined);
  const removeAll = () => {
    if (!window.confirm(t('workflows.sure', { name: id }))) return;
    remove({ variables: { id } }).then(
      () => void navigate({ to: '/workflows' }),
      () => undefined,
    );
  };
  return (
    <Card>
      <CardHead title={t('workflows.versions')}>
        {mine && (
          <Row as="span" className="ml-auto">
            {previous !== null && (
              <Button size="small" disabled={isBusy} onClick={() => done(rollBack({ variables: { id } }))}>
                {t('workflows.rollBack', { number: previous })}
              </Button>
            )}
            {published !== null && (
              <Button size="small" disabled={isBusy} onClick={() => done(withdraw({ variables: { id } }))}>
                {t('workflows.withdraw')}
              </Button>
            )}
            <Button kind="bad" size="small" disabled={isBusy} onClick={removeAll}>
              {t('workflows.delete')}
            </Button>
          </Row>
        )}
      </CardHead>
      {error !== undefined && <Problem error={error} />}
      <ol>
        {versions.map(({ number, createdAt, inputs, published: isPublished, missing }) => (
          <li
            key={number}
            className="border-t border-line px-4 py-2 flex items-center gap-2 min-w-0 flex-wrap"
          >
            <span className="gap-0 flex flex-col flex-1 min-w-0">
              <span className="font-medium">
                {t('workflows.version', { number })} {isPublished && <Tag>{t('workflows.published')}</Tag>}
              </span>
              <Small>{inputs.map(({ name }) => name).join(', ')}</Small>
              {missing !== null && missing.length > 0 && (
                <span className={helpLook(true)}>
                  {t('workflows.missing', { names: missing.join(', ') })}
                </span>
              )}
            </span>
            <Figures tone="muted" small>
              <Ago at={createdAt} />
            </Figures>
            {mine && !isPublished && (
              <Button
                size="small"
                disabled={isBusy}
                onClick={() => done(publish({ variables: { id, version: number } }))}
              >
                {t('workflows.publish')}
              </Button>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}
