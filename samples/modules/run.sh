#!/usr/bin/env bash
# Says something, and asks in another process what was said: run it after mvn package.
set -euo pipefail
cd "$(dirname "$0")/target"
rm -f chat.db*
chat() {
  java -p modules -m com.example.modules/com.example.modules.Chat chat.db "$1"
}
chat 'My name is Alice.'
chat 'Who am I?' | tee answer.txt
grep -qx 'You said: My name is Alice. | Who am I?' answer.txt
grep -qx 'The memory is in module io.github.keepsake4j' answer.txt
