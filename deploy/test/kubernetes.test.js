/** The manifests: what the API of Kubernetes takes, and what belongs together is together. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { built, container, folder, list, object, objects, read, yaml } from './lib/files.js';
import { moduleOf, typeFaults, validate } from './lib/models.js';

const all = objects();
const modelled = all.filter(({ object: each }) => moduleOf(each) !== null);
const pods = all.filter(({ object: { spec } }) => spec.template !== undefined);

describe('each object is what its schema says', () => {
  for (const { path, object: each } of modelled) {
    test(`${path}: ${each.kind} ${each.metadata.name}`, () => validate(each));
  }

  test('without keys that are not known', async () => {
    assert.equal(await typeFaults(modelled.map(({ object: each }) => each)), '');
  });

  test('a wrong value and an unknown key are found', async () => {
    const wrong = structuredClone(object('Deployment', 'chat'));
    wrong.spec.template.spec.containers[0].ports[0].containerPort = 'http';
    await assert.rejects(validate(wrong), /containerPort/);
    const unknown = structuredClone(object('ScaledObject', 'chat', 'scale-load'));
    unknown.spec.maxReplicas = 3;
    assert.match(await typeFaults([unknown]), /maxReplicas/);
  });
});

describe('kustomizations', () => {
  for (const path of list('kubernetes', 'kustomization.yaml')) {
    test(`${path} names files that are there, and can be built`, async () => {
      const { resources, configMapGenerator = [] } = yaml(path);
      const here = join(folder, path, '..');
      const named = [...resources, ...configMapGenerator.flatMap(({ files }) => files)];
      for (const each of named) assert.ok(existsSync(join(here, each)), each);
      for (const each of built(path.split('/')[1]) ?? []) {
        if (moduleOf(each) !== null) await validate(each);
      }
    });
  }
});

describe('the overlays of clouds', () => {
  for (const [name, ofService, pathOf] of [
    [
      'eks',
      (annotations) => annotations['alb.ingress.kubernetes.io/healthcheck-path'],
      (path) => path,
    ],
    [
      'gke',
      (annotations) => JSON.parse(annotations['cloud.google.com/backend-config']).default,
      (backend, all) => {
        const { spec } = all.find(
          ({ kind, metadata }) => kind === 'BackendConfig' && metadata.name === backend,
        );
        assert.equal(spec.healthCheck.port, 8080);
        return spec.healthCheck.requestPath;
      },
    ],
  ]) {
    test(`${name}: each host has a service, whose check is the readiness probe of its pods`, (t) => {
      const all = built(name);
      if (all === null) return t.skip('kubectl is not installed');
      const { spec } = all.find(({ kind }) => kind === 'Ingress');
      const names = spec.rules.map(({ host, http }) => {
        const [{ backend }] = http.paths;
        assert.equal(host, `${backend.service.name}.example.com`);
        return backend.service.name;
      });
      assert.deepEqual(names, ['chat', 'compute']);
      for (const service of names) {
        const { metadata } = all.find(
          (each) => each.kind === 'Service' && each.metadata.name === service,
        );
        const { readinessProbe } = container('Deployment', service);
        assert.equal(
          pathOf(ofService(metadata.annotations), all),
          readinessProbe.httpGet.path,
          service,
        );
      }
    });

    test(`${name}: images come from a registry, and an autoscaler sets the replicas of each Deployment`, (t) => {
      const all = built(name);
      if (all === null) return t.skip('kubectl is not installed');
      const deployments = all.filter(({ kind }) => kind === 'Deployment');
      assert.equal(deployments.length, 3);
      for (const { metadata, spec } of deployments) {
        for (const { image } of spec.template.spec.containers) assert.match(image, /^[A-Z].*:TAG$/);
        assert.equal(spec.replicas, undefined, metadata.name);
        const scaler = all.find(
          (each) =>
            each.kind === 'HorizontalPodAutoscaler' &&
            each.spec.scaleTargetRef.name === metadata.name,
        );
        assert.ok(scaler, metadata.name);
      }
    });
  }
});

describe('pods', () => {
  for (const { object: each } of pods) {
    const { spec } = each.spec.template;
    const name = `${each.kind} ${each.metadata.name}`;

    test(`${name} has what the restricted profile wants, and a read-only root`, () => {
      assert.equal(spec.securityContext.runAsNonRoot, true);
      assert.ok(spec.securityContext.runAsUser > 0);
      assert.deepEqual(spec.securityContext.seccompProfile, { type: 'RuntimeDefault' });
      assert.equal(spec.automountServiceAccountToken, false);
      for (const { securityContext } of spec.containers) {
        assert.deepEqual(securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    });

    test(`${name} says what it needs, and its selector is its label`, () => {
      for (const { resources } of spec.containers) {
        assert.ok(resources.requests.cpu && resources.requests.memory && resources.limits.memory);
      }
      const { labels } = each.spec.template.metadata;
      for (const [key, value] of Object.entries(each.spec.selector.matchLabels)) {
        assert.equal(labels[key], value);
      }
    });

    test(`${name} mounts the volumes that it has, and its probes name its ports`, () => {
      const claims = each.spec.volumeClaimTemplates?.map(({ metadata }) => metadata.name) ?? [];
      const volumes = [...(spec.volumes ?? []).map((volume) => volume.name), ...claims];
      for (const { volumeMounts = [], ports = [], ...probes } of spec.containers) {
        assert.deepEqual(volumeMounts.map((mount) => mount.name).sort(), volumes.sort());
        const names = ports.map((port) => port.name);
        for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
          if (ports.length > 0) assert.ok(names.includes(probes[probe].httpGet.port), probe);
        }
      }
    });
  }
});

test('the compute service has a liveness probe that a blocked loop answers', () => {
  const { env, ports, livenessProbe } = container('Deployment', 'compute');
  const { value } = env.find(({ name }) => name === 'MILLRACE_PROBES');
  const { containerPort } = ports.find(({ name }) => name === livenessProbe.httpGet.port);
  assert.equal(value, `0.0.0.0:${containerPort}`);
  assert.equal(livenessProbe.httpGet.path, '/live');
});

test('services, budgets, scalers and monitors are about something that is there', () => {
  const labels = pods.map(({ object: each }) => each.spec.template.metadata.labels);
  const isThere = (wanted) =>
    labels.some((have) => Object.entries(wanted).every(([key, value]) => have[key] === value));
  for (const { object: each, path } of all) {
    const { selector, podSelector, scaleTargetRef } = each.spec;
    if (scaleTargetRef) assert.ok(object('Deployment', scaleTargetRef.name), path);
    if (selector) assert.ok(isThere(selector.matchLabels ?? selector), path);
    if (podSelector) assert.ok(isThere(podSelector.matchLabels), path);
  }
  const ports = container('Deployment', 'chat').ports.map(({ name }) => name);
  assert.ok(ports.includes(object('Service', 'chat').spec.ports[0].targetPort));
  const service = object('Service', 'chat');
  const monitor = object('ServiceMonitor', 'chat');
  assert.equal(monitor.spec.endpoints[0].port, service.spec.ports[0].name);
  assert.equal(object('PodMonitoring', 'chat').spec.endpoints[0].port, ports[0]);
  // The job of the queries.
  assert.equal(service.metadata.labels[monitor.spec.jobLabel], 'chat');
});

test('the broker lets in all pods that have its address, and nobody calls a worker', () => {
  const { podSelector, ingress } = object('NetworkPolicy', 'nats').spec;
  const broker = object('StatefulSet', 'nats').spec.template;
  assert.deepEqual(podSelector.matchLabels, broker.metadata.labels);
  const names = broker.spec.containers[0].ports.map(({ name }) => name);
  assert.deepEqual(
    ingress.flatMap(({ ports }) => ports.map(({ port }) => port)),
    names,
  );
  const [{ podSelector: clients }] = ingress[0].from;
  const asks = ({ env = [] }) =>
    env.some(({ valueFrom }) => valueFrom?.secretKeyRef.key === 'BROKER_URL');
  const asking = pods
    .map((each) => each.object.spec.template)
    .filter(({ spec }) => spec.containers.some(asks));
  assert.equal(asking.length, 3);
  for (const [key, value] of Object.entries(clients.matchLabels)) {
    for (const { metadata } of asking) assert.equal(metadata.labels[key], value);
  }
  assert.equal(object('NetworkPolicy', 'worker').spec.ingress, undefined);
});

test('KEDA, which has a namespace of its own, is given addresses with theirs', () => {
  const triggers = all.flatMap(({ object: each }) => each.spec.triggers ?? []);
  for (const { metadata } of triggers) {
    const { serverAddress, natsServerMonitoringEndpoint, scalerAddress, source } = metadata;
    const own = [natsServerMonitoringEndpoint, scalerAddress].filter((each) => each !== undefined);
    const urls = [...own.map((each) => `http://${each}`), source].filter((url) => url);
    assert.ok(urls.length > 0 || serverAddress);
    for (const url of [...urls, ...(serverAddress ? [serverAddress] : [])]) {
      assert.match(new URL(url).hostname, /^[\w-]+\.[\w-]+\.svc$/);
    }
    for (const url of urls) {
      const { hostname, port } = new URL(url);
      const service = object('Service', hostname.split('.')[0]);
      assert.ok(
        service.spec.ports.some((each) => String(each.port) === port),
        url,
      );
    }
  }
});

test('the secrets that pods ask for are those that are described', () => {
  const keys = pods.flatMap(({ object: each }) =>
    each.spec.template.spec.containers.flatMap(({ env = [] }) =>
      env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []),
    ),
  );
  for (const { name } of keys) assert.equal(name, 'millrace');
  const dev = yaml('kubernetes/dev/kustomization.yaml').secretGenerator[0];
  const made = dev.literals.map((literal) => literal.split('=')[0]);
  for (const { key, optional } of keys) assert.ok(optional || made.includes(key), key);
  assert.match(read('kubernetes/scale-load/kustomization.yaml'), /DATABASE_URL and BROKER_URL/);
});

test('a chat in memory and on disk fits into what its pod may use', () => {
  const { template } = object('Deployment', 'chat').spec;
  const [{ resources }] = template.spec.containers;
  const mib = (text) => Number(/^(\d+)(Mi|Gi)$/.exec(text)[1]) * (text.endsWith('Gi') ? 1024 : 1);
  const sizes = { memory: 0, disk: 0 };
  for (const { emptyDir } of template.spec.volumes) {
    sizes[emptyDir.medium === 'Memory' ? 'memory' : 'disk'] += mib(emptyDir.sizeLimit);
  }
  // A heap of half of the limit is what Node.js takes of it by itself.
  assert.ok(sizes.memory < mib(resources.limits.memory) / 8);
  assert.ok(sizes.disk < mib(resources.limits['ephemeral-storage']));
});

test('a name of all pods is that of a Service without an address of its own', () => {
  const { spec } = object('Service', 'chat-pods');
  assert.equal(spec.clusterIP, 'None');
  assert.deepEqual(spec.selector, object('Service', 'chat').spec.selector);
  // The address is that of a pod, so the port has to be one of its container.
  const [{ port }] = spec.ports;
  assert.ok(container('Deployment', 'chat').ports.some((each) => each.containerPort === port));
});

test('only KEDA may call the scaler, and only where it listens', () => {
  const { podSelector, ingress } = object('NetworkPolicy', 'scaler').spec;
  const { metadata, spec } = object('Deployment', 'scaler').spec.template;
  assert.equal(
    metadata.labels['app.kubernetes.io/name'],
    Object.values(podSelector.matchLabels)[0],
  );
  const [{ ports }] = spec.containers;
  assert.deepEqual(
    ingress.map(({ from, ports: open }) => [
      Object.values(from[0].namespaceSelector.matchLabels)[0],
      open[0].port,
    ]),
    [
      ['keda', 'grpc'],
      ['monitoring', 'http'],
    ],
  );
  const numberOf = (name) => ports.find((each) => each.name === name).containerPort;
  const { args } = container('Deployment', 'scaler');
  assert.equal(Number(args[args.indexOf('--grpc-port') + 1]), numberOf('grpc'));
});

test('CPU is scaled on at 80 %', () => {
  for (const { spec } of all.map((each) => each.object).filter(({ kind }) => /^Horiz/.test(kind))) {
    const resource = spec.metrics.find(({ type }) => type === 'Resource').resource;
    assert.deepEqual(resource, {
      name: 'cpu',
      target: { type: 'Utilization', averageUtilization: 80 },
    });
  }
});
