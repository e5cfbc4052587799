// App.java
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.bson.types.ObjectId;

public class App {
    static SocketChannel agent;

    public static void main(String[] args) throws Exception {
        agent = SocketChannel.open(UnixDomainSocketAddress.of("/run/oid/agent.sock"));
        agent.write(ByteBuffer.wrap(("oid1 " + new ObjectId() + " name=shop addr=10.0.0.7:8080\n").getBytes()));
        while (true) {
            System.out.println(new ObjectId());
            Thread.sleep(1000);
        }
    }
}
