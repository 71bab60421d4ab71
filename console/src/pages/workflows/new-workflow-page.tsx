import { useLazyQuery, useMutation, useQuery } from '@apollo/client/react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';

import {
  ProposedWorkflowDocument,
  SavedWorkflowDocument,
  SavedWorkflowsDocument,
  SaveWorkflowDocument,
} from '../../api/documents/workflows.ts';
import { BackLink } from '../../parts/buttons.tsx';
import { InputField } from '../../parts/controls/fields.tsx';
import { useDebounced } from '../../parts/controls/typing.ts';
import { Button } from '../../parts/looks/button.tsx';
import { Help } from '../../parts/looks/inputs.tsx';
import { Figures, Small } from '../../parts/looks/lines.tsx';
import { Card, CardHead, Page, PageTop } from '../../parts/looks/panels.tsx';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { GraphField, parseGraph } from './graph-field.tsx';
import { type DraftInput, makeDrafts, savedInputs, InputsTable } from './inputs-table.tsx';

/** A graph becomes a function: what it offers is found in it, and saved under a name as its next version. */
export function NewWorkflowPage() {
  const { of } = useSearch({ from: '/workflows/new' });
  const { data } = useQuery(SavedWorkflowDocument, { variables: { id: of ?? '' }, skip: of === undefined });
  const before = data?.savedWorkflow ?? null;
  const graph = before?.versions[0]?.graph;
  return (
    <>
      <PageTop>
        <BackLink to="/workflows" label={t('workflows.all')} />
        <PageHeading>
          {of === undefined ? t('workflows.new') : t('workflows.nextOf', { name: of })}
        </PageHeading>
      </PageTop>
      <Page>
        {(of === undefined || data !== undefined) && (
          <WorkflowForm
            name={of ?? ''}
            description={before?.description ?? ''}
            graph={graph === undefined || graph === null ? '' : JSON.stringify(graph, null, 2)}
          />
        )}
      </Page>
    </>
  );
}

interface WorkflowFormProps {
  /** Empty for a new one. */
  readonly name: string;
  readonly description: string;
  readonly graph: string;
}

function WorkflowForm(before: WorkflowFormProps) {
  const navigate = useNavigate();
  const [name, setName] = useState(before.name);
  const [description, setDescription] = useState(before.description);
  const [text, setText] = useState(before.graph);
  const { graph, problem } = parseGraph(text);
  const proposal = useProposal(graph === null ? '' : text);
  const { inputs, setInputs, outputs } = proposal;
  const [save, saved] = useMutation(SaveWorkflowDocument, { refetchQueries: [SavedWorkflowsDocument] });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const variables = {
      name: name.trim(),
      graph,
      description,
      inputs: savedInputs(inputs),
      outputs: outputs.map(({ name: output, node, type }) => ({ name: output, node, type })),
    };
    save({ variables }).then(
      ({ data }) =>
        void navigate({ to: '/workflows/$name', params: { name: data?.saveWorkflow.id ?? name } }),
      () => undefined,
    );
  };
  return (
    <form className="gap-4 flex flex-col min-w-0" onSubmit={submit}>
      <GraphField text={text} problem={problem} onText={setText} />
      {proposal.error !== undefined && <Problem error={proposal.error} />}
      {inputs.length > 0 && (
        <Card>
          <CardHead title={t('workflows.inputs')}>
            <Figures tone="faint" small>
              {inputs.length}
            </Figures>
          </CardHead>
          <Small as="p" className="p-4">
            {t('workflows.inputsText')}
          </Small>
          <InputsTable inputs={inputs} onChange={setInputs} />
          <Small as="p" className="p-4">
            {t('workflows.outputs')}: {outputs.map((one) => `${one.name} (${one.type})`).join(', ')}
          </Small>
        </Card>
      )}
      <div className="grid grid-cols-[repeat(auto-fit,minmax(200px,1fr))] gap-4 items-end">
        <InputField
          label={t('field.name')}
          required
          readOnly={before.name !== ''}
          placeholder="poster-maker"
          pattern="[a-z0-9][a-z0-9\-]*"
          title={t('workflows.nameHelp')}
          value={name}
          onChange={({ target }) => setName(target.value)}
        >
          <Help>{t('workflows.nameHelp')}</Help>
        </InputField>
        <InputField
          label={t('workflows.description')}
          value={description}
          onChange={({ target }) => setDescription(target.value)}
        />
      </div>
      {saved.error !== undefined && <Problem error={saved.error} />}
      <Button
        type="submit"
        kind="primary"
        className="self-start"
        disabled={graph === null || !proposal.isRead || name.trim() === '' || saved.loading}
      >
        {t('workflows.save')}
      </Button>
    </form>
  );
}

/** Milliseconds without a change before a graph is looked at. */
const PAUSE_MS = 400;

/** What the graph in a text offers, as it can be changed before it is saved. */
function useProposal(text: string) {
  const settled = useDebounced(text, PAUSE_MS);
  const [inputs, setInputs] = useState<readonly DraftInput[]>([]);
  const [readText, setReadText] = useState('');
  const [propose, { data, error }] = useLazyQuery(ProposedWorkflowDocument);
  useEffect(() => {
    let isStale = false;
    const take = (found: readonly DraftInput[]) => {
      if (isStale) return;
      setInputs(found);
      setReadText(settled);
    };
    if (settled === '') return take([]);
    propose({ variables: { graph: JSON.parse(settled) as unknown } }).then(
      (answer) => take(makeDrafts(answer.data?.proposedWorkflow.inputs ?? [])),
      () => take([]),
    );
    return () => {
      isStale = true;
    };
  }, [settled, propose]);
  /** Whether it is known what this text offers, not one before it. */
  const isRead = text === readText;
  return { inputs, setInputs, outputs: data?.proposedWorkflow.outputs ?? [], error, isRead };
}
