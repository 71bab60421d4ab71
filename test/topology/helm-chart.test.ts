import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

import { settingsTable } from '../../platform/config/config.ts';
import { readComposeFile } from './compose-file.ts';

/** The chart: what it says of itself always, and what helm makes of it where helm is on the PATH. */

const chart = path.resolve(import.meta.dirname, '../../deploy/helm/kiln');
const read = (file: string): string => readFileSync(path.join(chart, file), 'utf8');
const values = parse(read('values.yaml'));
const sets = globSync('ci/*.yaml', { cwd: chart }).toSorted();
const known = new Set(settingsTable().map(({ name }) => name));
const ROLES = ['gateway', 'media', 'workflow', 'worker'] as const;
const PORTS: Readonly<Record<string, string>> = {
  gateway: '4000',
  media: '4001',
  workflow: '4002',
  worker: '4003',
};

const helm = (...words: string[]) => spawnSync('helm', words, { cwd: chart, encoding: 'utf8' });
/** What values.schema.json says of one value. */
interface Described {
  readonly additionalProperties?: unknown;
  readonly properties?: Readonly<Record<string, Described>>;
}

const hasHelm = helm('version').status === 0;

describe('the chart', () => {
  it('names settings that there are', () => {
    const environment = [...read('templates/_helpers.tpl').matchAll(/name: ([A-Z][A-Z0-9_]+),/g)].map(
      ([, name = '']) => name,
    );
    const named = sets.flatMap((file) => {
      const { settings = {}, secretKeys = {} } = parse(read(file));
      return [...Object.keys(settings), ...Object.keys(secretKeys)];
    });
    expect(environment.length).toBeGreaterThan(4);
    const all = [...environment, ...named, ...Object.keys(values.settings)];
    expect(all.filter((name) => !known.has(name))).toEqual([]);
  });

  it('runs each role as docker-compose.yml does', async () => {
    const secrets = ['INTERNAL_KEY', 'SERVICE_KEYS', 'POSTGRES_PASSWORD', 'S3_SECRET_ACCESS_KEY'];
    const compose = await readComposeFile(Object.fromEntries(secrets.map((name) => [name, 'x'])));
    for (const role of ROLES) {
      const text = read(`templates/${role}.yaml`);
      const [, command = ''] = /command: \[(.*)\]/.exec(text) ?? [];
      expect(command.split(', ')).toEqual(compose[role]?.command);
      const [, port] = /name: http, containerPort: (\d+)/.exec(text) ?? [];
      expect(port).toBe(PORTS[role]);
    }
  });

  it('has a description of each value, and refuses others', () => {
    const schema = JSON.parse(read('values.schema.json'));
    const differing = (value: unknown, described: Described | undefined, at: string): string[] => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
      if (described?.additionalProperties !== false) return described === undefined ? [at] : [];
      return Object.entries(value).flatMap(([name, inner]) =>
        described.properties?.[name] === undefined
          ? [`${at}.${name}`]
          : differing(inner, described.properties?.[name], `${at}.${name}`),
      );
    };
    expect(differing(values, schema, '')).toEqual([]);
    expect(schema.additionalProperties).toBe(false);
  });
});

describe.skipIf(!hasHelm)('the chart as helm takes it', () => {
  const render = (...words: string[]) => helm('template', 'kiln', '.', '--kube-version', '1.33.0', ...words);

  const rendered = (file: string) => {
    const objects = parseAllDocuments(render('--values', file).stdout).map((document) => document.toJS());
    const of = (kind: string, role: string) => {
      const found = objects.find((one) => one.kind === kind && one.metadata.name === `kiln-${role}`);
      if (found === undefined) throw new Error(`no ${kind} of ${role}`);
      return found;
    };
    return { objects, of };
  };

  it.each(sets)('is sound with %s, and makes whole documents', (file) => {
    const lint = helm('lint', '.', '--strict', '--kube-version', '1.33.0', '--values', file);
    expect(lint).toMatchObject({ status: 0 });
    expect(render('--values', file)).toMatchObject({ status: 0, stderr: '' });
    const { objects } = rendered(file);
    const deployments = objects.filter(({ kind }) => kind === 'Deployment');
    expect(deployments.length).toBe(file.includes('demo') ? 1 : ROLES.length);
    // Nothing of the chart is a secret, and no pod may become root.
    expect(objects.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    for (const { spec } of deployments) {
      expect(spec.template.spec.securityContext.runAsNonRoot).toBe(true);
      for (const container of spec.template.spec.containers) {
        expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
        const names = container.env.map(({ name }: { name: string }) => name);
        expect(new Set(names).size).toBe(names.length);
      }
    }
  });

  it('scales each role by its own metrics, and takes pods away one at a time', () => {
    const { objects, of } = rendered('ci/everything.yaml');
    const [gateway, media] = ['gateway', 'media'].map((role) => of('HorizontalPodAutoscaler', role).spec);
    const cpu = (role: string) => ({
      type: 'Resource',
      resource: {
        name: 'cpu',
        target: { type: 'Utilization', averageUtilization: values[role].autoscaling.cpuPercent },
      },
    });
    const ofPods = (name: string, averageValue: string) => ({
      type: 'Pods',
      pods: { metric: { name }, target: { type: 'AverageValue', averageValue } },
    });
    expect(gateway.metrics).toEqual([
      cpu('gateway'),
      ofPods('kiln_open_streams', '4000'),
      ofPods('kiln_nodejs_eventloop_lag_p99_seconds', '100m'),
    ]);
    expect(media).toMatchObject({ minReplicas: 2, maxReplicas: 4, metrics: [cpu('media')] });
    const slowly = {
      scaleDown: {
        stabilizationWindowSeconds: 300,
        policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }],
      },
    };
    const worker = of('ScaledObject', 'worker').spec;
    expect([gateway, media].map(({ behavior }) => behavior)).toEqual([slowly, slowly]);
    expect(worker.advanced.horizontalPodAutoscalerConfig.behavior).toEqual(slowly);
    const asked = worker.triggers.map(({ metadata }: { metadata: { query: string } }) => metadata.query);
    expect(asked).toEqual([
      expect.stringContaining('kiln_queue_oldest_seconds'),
      expect.stringContaining('kiln_poll_lag_seconds'),
    ]);
    // A number of replicas would undo at each upgrade what the autoscaler has done.
    for (const { metadata, spec } of objects.filter(({ kind }) => kind === 'Deployment'))
      expect([metadata.name, spec.replicas]).toEqual([
        metadata.name,
        metadata.name.endsWith('workflow') ? values.workflow.replicas : undefined,
      ]);
  });

  it('spreads pods over zones and nodes, and keeps all but one when nodes are emptied', () => {
    const { objects, of } = rendered('ci/everything.yaml');
    for (const role of ROLES) {
      const { spec } = of('Deployment', role);
      const labels = spec.selector.matchLabels;
      const spread = spec.template.spec.topologySpreadConstraints.map(
        ({ topologyKey, labelSelector }: { topologyKey: string; labelSelector: unknown }) => [
          topologyKey,
          labelSelector,
        ],
      );
      expect(spread).toEqual([
        ['topology.kubernetes.io/zone', { matchLabels: labels }],
        ['kubernetes.io/hostname', { matchLabels: labels }],
      ]);
      if (role === 'workflow') continue;
      expect(of('PodDisruptionBudget', role).spec).toMatchObject({
        maxUnavailable: 1,
        selector: { matchLabels: labels },
      });
    }
    expect(objects.filter(({ kind }) => kind === 'PodDisruptionBudget')).toHaveLength(3);
  });

  it('waits before SIGKILL for all that a role may take to stop', () => {
    const settings = { DRAIN_SECONDS: 20, STOP_GRACE_SECONDS: 120, WORKER_GRACE_SECONDS: '' };
    const given = Object.entries(settings).map(([name, value]) => `settings.${name}=${value}`);
    const waits = [...given, 'media.preStopSeconds=60', 'workflow.preStopSeconds=70'];
    const { stdout } = render('--values', 'ci/smallest.yaml', '--set', waits.join(','));
    const seconds = parseAllDocuments(stdout)
      .map((document) => document.toJS())
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ metadata, spec }) => [metadata.name, spec.template.spec.terminationGracePeriodSeconds]);
    const [gateway, rest] = [20 + 120, 30];
    expect(Object.fromEntries(seconds)).toEqual({
      'kiln-gateway': gateway + rest,
      'kiln-media': gateway + 60 + 300 + rest,
      'kiln-workflow': gateway + 70 + rest,
      'kiln-worker': gateway + 300 + rest,
    });
  });

  it.each([
    [['--values', 'ci/smallest.yaml', '--set', 'settings.PORT=8080'], "invalid propertyName 'PORT'"],
    [
      [
        '--values',
        'ci/smallest.yaml',
        '--set',
        'secretKeys.METRICS_PORT.name=a,secretKeys.METRICS_PORT.key=b',
      ],
      "invalid propertyName 'METRICS_PORT'",
    ],
    [[], 'settings.PUBLIC_URL must be set'],
    [['--set', 'settings.PUBLIC_URL=https://kiln.example.com'], 'secrets must name at least one'],
    [
      ['--values', 'ci/smallest.yaml', '--set', 'gateway.replica=3'],
      "'/gateway': additional properties 'replica'",
    ],
    [
      ['--values', 'ci/smallest.yaml', '--set', 'worker.autoscaling.enabled=true'],
      'worker.autoscaling.prometheus must be set',
    ],
  ])('says of %j what is missing', (words, complaint) => {
    const { status, stderr } = render(...words);
    expect(status).not.toBe(0);
    expect(stderr).toContain(complaint);
  });
});
