import { useMutation, useQuery } from '@apollo/client/react';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';

import { useCaller } from '../../../api/caller.ts';
import type { CatalogPartsFragment } from '../../../api/documents/operations.ts';
import {
  CatalogDocument,
  CatalogTemplateDocument,
  DeleteTemplateDocument,
  ShopDocument,
} from '../../../api/documents/shop.ts';
import { isFree, useParameters, useOrder } from '../../../library/order.ts';
import { TemplateFields } from '../../../library/template-fields.tsx';
import { AdministratorsOnly } from '../../../parts/administrators-only.tsx';
import { BackLink } from '../../../parts/buttons.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Row } from '../../../parts/looks/lines.tsx';
import { Card, CardHead, Page, PageTop } from '../../../parts/looks/panels.tsx';
import { PageHeading } from '../../../parts/page/page-heading.tsx';
import { NotFound, Problem, problemText } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';
import type { Values } from '../../../work/work.ts';
import { TemplateEditor } from './template-editor.tsx';
import { TemplateState } from './template-state.tsx';

/** One template, for administrators: its form, whether it can be run and sold, and a run to try it. */
export function TemplatePage() {
  const { code } = useParams({ from: '/shop/templates/$code' });
  const caller = useCaller();
  const { data, error } = useQuery(CatalogTemplateDocument, { variables: { code } });
  if (caller?.mayAdministrate === false) return <Refused />;
  if (error !== undefined && data === undefined) return <Problem error={error} />;
  if (data === undefined || caller === undefined) return <Page aria-busy="true" />;
  const { template } = data;
  if (template === null) return <NotFound />;
  return (
    <>
      <Head title={template.name}>
        <Delete template={template} />
      </Head>
      <Page>
        <div className="with-aside">
          <div>
            <TemplateEditor key={code} template={template} onSaved={() => undefined} />
          </div>
          <div>
            <TemplateState template={template} />
            <TestRun key={`${template.workflow} ${code}`} template={template} />
          </div>
        </div>
      </Page>
    </>
  );
}

/** A new template; then its page. */
export function NewTemplatePage() {
  const caller = useCaller();
  const navigate = useNavigate();
  if (caller === undefined) return <Page aria-busy="true" />;
  if (!caller.mayAdministrate) return <Refused />;
  const onSaved = (code: string) =>
    void navigate({ to: '/shop/templates/$code', params: { code }, replace: true });
  return (
    <>
      <Head title={t('shop.newTemplate')} />
      <Page>
        <div className="max-w-(--read-w)">
          <TemplateEditor template={null} onSaved={onSaved} />
        </div>
      </Page>
    </>
  );
}

function Refused() {
  return (
    <>
      <PageTop>
        <PageHeading>{t('page.shop')}</PageHeading>
      </PageTop>
      <AdministratorsOnly />
    </>
  );
}

function Head({ title, children }: { readonly title: string; readonly children?: React.ReactNode }) {
  return (
    <PageTop>
      <BackLink to="/shop" search={{ view: 'manage' }} label={t('shop.catalog')} />
      <PageHeading className="min-w-0 flex-[1_1_240px] truncate">{title}</PageHeading>
      <Row as="span" className="ml-auto">
        {children}
      </Row>
    </PageTop>
  );
}

function Delete({ template: { code, name } }: { readonly template: CatalogPartsFragment }) {
  const navigate = useNavigate();
  const [remove, { error, loading }] = useMutation(DeleteTemplateDocument, {
    refetchQueries: [CatalogDocument, ShopDocument],
  });
  const act = () => {
    if (!window.confirm(t('shop.deleteSure', { name }))) return;
    remove({ variables: { code } }).then(
      () => void navigate({ to: '/shop', search: { view: 'manage' } }),
      () => undefined,
    );
  };
  return (
    <>
      {error !== undefined && (
        <span className="text-12 font-normal" role="alert">
          {problemText(error)}
        </span>
      )}
      <Button kind="bad" disabled={loading} onClick={act}>
        <Icon name="trash" size={14} />
        {t('shop.delete')}
      </Button>
    </>
  );
}

/** Runs the template as it is saved, without a payment, and goes to its execution. */
function TestRun({ template }: { readonly template: CatalogPartsFragment }) {
  const caller = useCaller();
  const parameters = useParameters(template);
  const [values, setValues] = useState<Values>({});
  const { run, error, isBusy } = useOrder(template.code);
  const { isActive } = template;
  const isPaid = caller?.mayRunUnpaid !== true && !isFree(template);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run(values);
  };
  return (
    <Card>
      <CardHead title={t('shop.testRun')} />
      <form className="p-4 gap-3 flex flex-col min-w-0" aria-label={t('shop.testRun')} onSubmit={submit}>
        <TemplateFields parameters={parameters} values={values} onChange={setValues} />
        {error !== undefined && <Problem error={error} />}
        {!isActive && <p className="text-muted">{t('shop.testInactive')}</p>}
        {isPaid && <p className="text-muted">{t('shop.testPaid')}</p>}
        <Button type="submit" kind="primary" className="self-start" disabled={isBusy || !isActive || isPaid}>
          {t('shop.run')}
        </Button>
      </form>
    </Card>
  );
}
