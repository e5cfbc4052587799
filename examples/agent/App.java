// App.java
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import org.bson.types.ObjectId;

public class App {
    public static void main(String[] args) throws Exception {
        new OidAgent("name=shop addr=10.0.0.7:8080").start();
        while (true) {
            System.out.println(new ObjectId());
            Thread.sleep(1000);
        }
    }
}

/** Tells the agent of this host about this process. Never throws or waits. */
final class OidAgent {
    private final String path = "/run/oid/agent.sock", fields;
    private SocketChannel agent; // null if there is no connection

    OidAgent(String fields) {
        this.fields = fields;
    }

    void start() {
        try {
            connect();
        } catch (Exception e) {
            agent = null; // run tries again, and logs why
        }
        try {
            Thread thread = new Thread(this::run, "oid agent");
            thread.setDaemon(true);
            thread.start();
        } catch (Throwable e) { // an OutOfMemoryError if there are too many threads
            System.err.println(path + ": " + e);
        }
    }

    private void connect() throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.configureBlocking(false); // neither connect nor write waits
            if (!channel.connect(UnixDomainSocketAddress.of(path)))
                throw new IOException("too many connections wait for the agent");
            String line = "oid1 " + new ObjectId() + " " + fields + "\n";
            channel.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
            channel.configureBlocking(true);
        } catch (Exception e) {
            channel.close();
            throw e;
        }
        agent = channel;
    }

    /** Returns the answer of the agent, after the end of the connection. */
    private String talk() throws IOException {
        if (agent == null)
            connect();
        try (SocketChannel channel = agent) {
            agent = null;
            byte[] buffer = new byte[4096];
            int n = channel.read(ByteBuffer.wrap(buffer));
            String answer = n < 0 ? "no answer" : new String(buffer, 0, n, StandardCharsets.UTF_8).strip();
            while (answer.startsWith("ok") && channel.read(ByteBuffer.wrap(buffer)) >= 0) {
            }
            return answer;
        }
    }

    private void run() {
        long pause = 1;
        String said = "";
        while (true) {
            String answer;
            try {
                answer = talk();
            } catch (Exception e) {
                answer = e.toString();
            }
            boolean ok = answer.startsWith("ok");
            if (!ok && !answer.equals(said))
                System.err.println(path + ": " + answer);
            said = answer;
            pause = ok ? 1 : answer.startsWith("error") ? 3600 : Math.min(2 * pause, 60);
            try {
                Thread.sleep((long) (pause * (500 + 1000 * Math.random())));
            } catch (InterruptedException e) {
                return; // somebody ends all threads
            }
        }
    }
}
