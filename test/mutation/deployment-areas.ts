import type { MutationArea } from "./mutation-area.ts";

/** The areas of domain/deployments: one run over the folder takes hours. */
export const DEPLOYMENT_AREAS: MutationArea[] = [
  {
    name: "domain/deployments",
    sources: ["domain/deployments/*.ts"],
    except: [
      "domain/deployments/*.entity.ts",
      "domain/deployments/{run-deployment,deployment-steps,provision-app,run-rollback,deployment-log,deployment-status}.ts",
      "domain/deployments/{add-deployment,cancel-deployment,deployment-view,list-deployments}.ts",
      "domain/deployments/{redeploy-app,roll-back-app}.ts",
      "domain/deployments/{deployment-log-tail,follow-deployment-log,log-masks,log-text}.ts",
      "domain/deployments/{read-deployment-log,read-log-tail}.ts",
      "domain/deployments/{claim-deployment,enqueue-deployment,finish-deployment,lease,sweep}.ts",
      "domain/deployments/transition-deployment.ts",
    ],
    tests: [
      "test/domain/deployments/{artifacts,deployment-steps,remove-old-deployments,run-rollback,tear-down-app}.test.ts",
    ],
  },
  {
    name: "domain/deployments, requests",
    sources: [
      "domain/deployments/{add-deployment,cancel-deployment,deployment-view,list-deployments}.ts",
      "domain/deployments/{redeploy-app,roll-back-app}.ts",
    ],
    tests: ["test/domain/deployments/{cancel-deployment,request-cancellation,request-deployments}.test.ts"],
  },
  {
    name: "domain/deployments, leases",
    sources: [
      "domain/deployments/{claim-deployment,enqueue-deployment,finish-deployment,lease,sweep}.ts",
      "domain/deployments/transition-deployment.ts",
    ],
    tests: [
      "test/domain/deployments/{ended-deployments,fencing,lease-renewal,leases,tear-down-app,transitions}.test.ts",
    ],
  },
  {
    name: "domain/deployments, reading logs",
    sources: [
      "domain/deployments/{deployment-log-tail,follow-deployment-log,log-masks}.ts",
      "domain/deployments/{read-deployment-log,read-log-tail}.ts",
    ],
    tests: ["test/domain/deployments/read-logs.test.ts"],
  },
  {
    name: "domain/deployments, logs and statuses",
    sources: ["domain/deployments/{deployment-log,deployment-status,log-text}.ts", "domain/shared/sanitize-log.ts"],
    tests: [
      "test/domain/deployments/{deployment-log,deployment-log-writes,deployment-status,log-text}.test.ts",
      "test/domain/shared/sanitize-log.test.ts",
    ],
  },
  {
    name: "domain/deployments, one run",
    sources: ["domain/deployments/{run-deployment,deployment-steps,provision-app,run-rollback}.ts"],
    tests: ["test/domain/deployments/{deployment-steps,fencing,provision-app,run-deployment,run-rollback}.test.ts"],
  },
];
