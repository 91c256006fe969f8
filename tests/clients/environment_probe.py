"""Says what a client's script finds around it; a second argument makes it fail in that way."""

import importlib.metadata
import json
import os
import sys
import time

package, how = sys.argv[1:]
print("not the result")
print("a word for whoever looks for the fault", file=sys.stderr)
if how == "crash":
    sys.exit(3)
if how == "hang":
    sys.stderr.flush()
    time.sleep(60)
if how == "mute":
    print("no JSON either")
else:
    print(json.dumps({"version": importlib.metadata.version(package), "variables": sorted(os.environ)}))
